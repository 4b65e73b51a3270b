/* Read-write locks in glibc's fields, and spin locks (1 is free). */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/system/time/time.h"

#include <errno.h>

enum { WRITING = 3, WRITE_LOCKED = 2, READER = 8, READERS_SHIFT = 3 };

static bool is_free(const pthread_rwlock_t *l, bool shared)
{
    unsigned readers = l->__data.__readers;
    return !(readers & WRITE_LOCKED) && (shared || !(readers >> READERS_SHIFT));
}

static uint32_t when_free(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    if (s->flags & DH_STEP_TRY || is_free((const pthread_rwlock_t *)(uintptr_t)s->object, s->flags & DH_STEP_SHARED))
        return 1;
    return s->flags & DH_STEP_TIMED ? 2 : 0;
}

static void acquire_now(pthread_rwlock_t *l, bool shared)
{
    if (shared) {
        l->__data.__readers = (l->__data.__readers & ~1u) + READER;
    } else {
        l->__data.__readers = WRITING;
        l->__data.__cur_writer = (int)dh_engine_self()->tid;
    }
}

static bool is_mine(const pthread_rwlock_t *l)
{
    return l->__data.__readers & WRITE_LOCKED && l->__data.__cur_writer == (int)dh_engine_self()->tid;
}

static int acquire(pthread_rwlock_t *l, unsigned flags)
{
    if (is_mine(l) && !(flags & DH_STEP_TRY))
        return EDEADLK;
    uint32_t alternative = dh_engine_park_at(DH_STEP_LOCK, flags, l, NULL, when_free);
    if (alternative == 1) {
        dh_virtual_time_advance(dh_engine_self()->deadline);
        dh_engine_step_failed();
        return ETIMEDOUT;
    }
    if (!is_free(l, flags & DH_STEP_SHARED)) {
        dh_engine_step_failed();
        return EBUSY;
    }
    acquire_now(l, flags & DH_STEP_SHARED);
    return 0;
}

static int acquire_until(pthread_rwlock_t *l, unsigned flags, clockid_t clock, const struct timespec *until)
{
    if (!dh_timespec_is_valid(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return EINVAL;
    dh_engine_self()->deadline = dh_virtual_time_of(clock, until);
    return acquire(l, flags | DH_STEP_TIMED);
}

#define LOCKS(kind, flags)                                                                                             \
    int dh_engine_pthread_rwlock_##kind##lock(pthread_rwlock_t *l)                                                     \
    {                                                                                                                  \
        return acquire(l, flags);                                                                                      \
    }                                                                                                                  \
    int dh_engine_pthread_rwlock_try##kind##lock(pthread_rwlock_t *l)                                                  \
    {                                                                                                                  \
        return acquire(l, (flags) | DH_STEP_TRY);                                                                      \
    }                                                                                                                  \
    int dh_engine_pthread_rwlock_timed##kind##lock(pthread_rwlock_t *l, const struct timespec *until)                  \
    {                                                                                                                  \
        return acquire_until(l, flags, CLOCK_REALTIME, until);                                                         \
    }                                                                                                                  \
    int dh_engine_pthread_rwlock_clock##kind##lock(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until) \
    {                                                                                                                  \
        return acquire_until(l, flags, clock, until);                                                                  \
    }
LOCKS(rd, DH_STEP_SHARED)
LOCKS(wr, 0)

int dh_engine_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    bool shared = !(l->__data.__readers & WRITE_LOCKED);
    dh_engine_park_at(DH_STEP_UNLOCK, shared ? DH_STEP_SHARED : 0, l, NULL, NULL);
    if (!shared) {
        l->__data.__readers = 0;
        l->__data.__cur_writer = 0;
    } else if (l->__data.__readers >> READERS_SHIFT) {
        l->__data.__readers -= READER;
    }
    return 0;
}

/* ---- spin locks ---- */

static uint32_t when_spin_free(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    return s->flags & DH_STEP_TRY || *(const volatile int *)(uintptr_t)s->object > 0;
}

static int acquire_spin(pthread_spinlock_t *l, unsigned flags)
{
    dh_engine_park_at(DH_STEP_LOCK, flags, (const void *)l, NULL, when_spin_free);
    if (*l <= 0) {
        dh_engine_step_failed();
        return EBUSY;
    }
    *l = 0;
    return 0;
}

int dh_engine_pthread_spin_lock(pthread_spinlock_t *l)
{
    return acquire_spin(l, 0);
}

int dh_engine_pthread_spin_trylock(pthread_spinlock_t *l)
{
    return acquire_spin(l, DH_STEP_TRY);
}

int dh_engine_pthread_spin_unlock(pthread_spinlock_t *l)
{
    dh_engine_park_at(DH_STEP_UNLOCK, 0, (const void *)l, NULL, NULL);
    *l = 1;
    return 0;
}
