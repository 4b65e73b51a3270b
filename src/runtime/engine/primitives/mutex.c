/* Mutexes of every type, in glibc's fields, which its own functions wrote before the snapshot and still write (init,
 * destroy, consistent). */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/system/time/time.h"

#include <errno.h>
#include <limits.h>

enum {
    TYPE = 3,
    ROBUST = 0x10,
    OWNER_DIED = 0x40000000, /* of __lock: free, its owner ended without releasing it */
    INCONSISTENT = INT_MAX,  /* of __owner */
    NOT_RECOVERABLE = INT_MAX - 1
};

static int type_of(const pthread_mutex_t *m)
{
    return m->__data.__kind & TYPE;
}

static bool is_mine(const pthread_mutex_t *m)
{
    return m->__data.__lock && m->__data.__owner == (int)dh_engine_self()->tid;
}

bool dh_engine_mutex_is_free(const pthread_mutex_t *m)
{
    return m->__data.__lock == 0 || m->__data.__lock == OWNER_DIED || m->__data.__owner == NOT_RECOVERABLE;
}

static void replace_robust(struct dh_task *t, const pthread_mutex_t *from, const pthread_mutex_t *to)
{
    for (unsigned i = 0; i < sizeof t->robust / sizeof *t->robust; i++)
        if (t->robust[i] == from) {
            t->robust[i] = to;
            return;
        }
}

void dh_engine_mutex_owner_died(struct dh_task *t)
{
    for (unsigned i = 0; i < sizeof t->robust / sizeof *t->robust; i++) {
        pthread_mutex_t *m = (pthread_mutex_t *)(uintptr_t)t->robust[i];
        if (m)
            m->__data.__lock = OWNER_DIED;
    }
}

int dh_engine_mutex_acquire(pthread_mutex_t *m)
{
    struct dh_task *self = dh_engine_self();
    bool died = m->__data.__lock == OWNER_DIED;
    if (m->__data.__kind & ROBUST && m->__data.__owner == NOT_RECOVERABLE)
        return ENOTRECOVERABLE;
    m->__data.__lock = m->__data.__kind & ROBUST ? (int)self->tid : 1;
    m->__data.__owner = died ? INCONSISTENT : (int)self->tid;
    m->__data.__count = 1;
    m->__data.__nusers = 1;
    if (m->__data.__kind & ROBUST)
        replace_robust(self, NULL, m);
    return died ? EOWNERDEAD : 0;
}

int dh_engine_mutex_check_release(const pthread_mutex_t *m)
{
    bool checked = type_of(m) == PTHREAD_MUTEX_RECURSIVE || type_of(m) == PTHREAD_MUTEX_ERRORCHECK;
    if (m->__data.__kind & ROBUST)
        return m->__data.__lock == (int)dh_engine_self()->tid ? 0 : EPERM;
    return checked && !is_mine(m) ? EPERM : 0;
}

int dh_engine_mutex_release(pthread_mutex_t *m)
{
    if (m->__data.__kind & ROBUST)
        replace_robust(dh_engine_self(), m, NULL);
    bool broken = m->__data.__kind & ROBUST && m->__data.__owner == INCONSISTENT;
    m->__data.__owner = broken ? NOT_RECOVERABLE : 0;
    m->__data.__count = 0;
    m->__data.__nusers = 0;
    m->__data.__lock = 0;
    return 0;
}

static uint32_t when_free(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    if (s->flags & DH_STEP_TRY || dh_engine_mutex_is_free((const pthread_mutex_t *)(uintptr_t)s->object))
        return 1;
    return s->flags & DH_STEP_TIMED ? 2 : 0;
}

/* Of a mutex that the task holds: 0 or errno; -1: to be waited for. */
static int acquire_again(pthread_mutex_t *m, bool tries)
{
    if (!is_mine(m))
        return -1;
    if (type_of(m) == PTHREAD_MUTEX_RECURSIVE) {
        if (m->__data.__count == UINT_MAX)
            return EAGAIN;
        m->__data.__count++;
        return 0;
    }
    return type_of(m) == PTHREAD_MUTEX_ERRORCHECK ? (tries ? EBUSY : EDEADLK) : -1;
}

static int acquire(pthread_mutex_t *m, unsigned flags)
{
    int again = acquire_again(m, flags & DH_STEP_TRY);
    if (again >= 0)
        return again;
    uint32_t alternative = dh_engine_park_at(DH_STEP_LOCK, flags, m, NULL, when_free);
    if (alternative == 1) {
        dh_virtual_time_advance(dh_engine_self()->deadline);
        dh_engine_step_failed();
        return ETIMEDOUT;
    }
    if (!dh_engine_mutex_is_free(m)) {
        dh_engine_step_failed();
        return EBUSY;
    }
    return dh_engine_mutex_acquire(m);
}

int dh_engine_pthread_mutex_lock(pthread_mutex_t *m)
{
    return acquire(m, 0);
}

int dh_engine_pthread_mutex_trylock(pthread_mutex_t *m)
{
    return acquire(m, DH_STEP_TRY);
}

int dh_engine_pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (!dh_timespec_is_valid(until))
        return dh_engine_mutex_is_free(m) ? acquire(m, 0) : EINVAL;
    dh_engine_self()->deadline = dh_virtual_time_of(clock, until);
    return acquire(m, DH_STEP_TIMED);
}

int dh_engine_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    return dh_engine_pthread_mutex_clocklock(m, CLOCK_REALTIME, until);
}

int dh_engine_pthread_mutex_unlock(pthread_mutex_t *m)
{
    int refused = dh_engine_mutex_check_release(m);
    if (refused)
        return refused;
    if (type_of(m) == PTHREAD_MUTEX_RECURSIVE && m->__data.__count > 1) {
        m->__data.__count--;
        return 0;
    }
    dh_engine_park_at(DH_STEP_UNLOCK, 0, m, NULL, NULL);
    return dh_engine_mutex_release(m);
}

/* ---- C11 ---- */

static int c11(int result)
{
    return result == 0 ? thrd_success : result == EBUSY ? thrd_busy : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int dh_engine_mtx_lock(mtx_t *m)
{
    return c11(acquire((pthread_mutex_t *)m, 0));
}

int dh_engine_mtx_trylock(mtx_t *m)
{
    return c11(acquire((pthread_mutex_t *)m, DH_STEP_TRY));
}

int dh_engine_mtx_timedlock(mtx_t *m, const struct timespec *until)
{
    return c11(dh_engine_pthread_mutex_timedlock((pthread_mutex_t *)m, until));
}

int dh_engine_mtx_unlock(mtx_t *m)
{
    return c11(dh_engine_pthread_mutex_unlock((pthread_mutex_t *)m));
}
