/* Condition variables: no state of their own, waiters are in the wait queue. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/ends/schedule_ends.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/tasks/task.h"

#include <errno.h>

enum { CLOCK_MONOTONIC_BIT = 2 }; /* of glibc's __wrefs */

/* A cancellation point, before and while it sleeps; the mutex is acquired again in any case. */
static int wait(pthread_cond_t *c, pthread_mutex_t *m, unsigned flags)
{
    struct dh_task *t = dh_engine_self();
    int refused = dh_engine_mutex_check_release(m);
    if (refused)
        return refused;
    dh_task_cancel_point();
    unsigned count = m->__data.__count;
    dh_engine_park_at(DH_STEP_WAIT, flags, c, m, NULL);
    dh_engine_mutex_release(m);
    t->cancellable = true;
    uint32_t alternative = dh_wait_queue_sleep(c, m, flags);
    t->cancellable = false;
    int result = dh_engine_mutex_acquire(m);
    m->__data.__count = count;
    if (!t->woken && alternative == 0)
        dh_task_cancel_point();
    if (result == 0 && alternative == 1 && flags & DH_STEP_TIMED) {
        dh_virtual_time_advance(t->deadline);
        result = ETIMEDOUT;
    }
    return result;
}

int dh_engine_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    return wait(c, m, 0);
}

int dh_engine_pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock,
                                     const struct timespec *until)
{
    if (!dh_timespec_is_valid(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return EINVAL;
    dh_engine_self()->deadline = dh_virtual_time_of(clock, until);
    return wait(c, m, DH_STEP_TIMED);
}

int dh_engine_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    clockid_t clock = c->__data.__wrefs & CLOCK_MONOTONIC_BIT ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    return dh_engine_pthread_cond_clockwait(c, m, clock, until);
}

int dh_engine_pthread_cond_signal(pthread_cond_t *c)
{
    uint32_t which = dh_engine_park_at(DH_STEP_SIGNAL, 0, c, NULL, dh_wait_queue_wake_alternatives);
    if (!dh_wait_queue_length(c)) {
        dh_schedule_ends_lost_signal(c);
        dh_engine_step_failed();
    }
    dh_wait_queue_wake(c, which);
    return 0;
}

int dh_engine_pthread_cond_broadcast(pthread_cond_t *c)
{
    dh_engine_park_at(DH_STEP_BROADCAST, 0, c, NULL, NULL);
    if (!dh_wait_queue_length(c)) {
        dh_schedule_ends_lost_signal(c);
        dh_engine_step_failed();
    }
    dh_wait_queue_wake_all(c);
    return 0;
}

/* ---- C11 ---- */

static int c11(int result)
{
    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}

int dh_engine_cnd_wait(cnd_t *c, mtx_t *m)
{
    return c11(wait((pthread_cond_t *)c, (pthread_mutex_t *)m, 0));
}

int dh_engine_cnd_timedwait(cnd_t *c, mtx_t *m, const struct timespec *until)
{
    return c11(dh_engine_pthread_cond_clockwait((pthread_cond_t *)c, (pthread_mutex_t *)m, CLOCK_REALTIME, until));
}

int dh_engine_cnd_signal(cnd_t *c)
{
    return c11(dh_engine_pthread_cond_signal((pthread_cond_t *)c));
}

int dh_engine_cnd_broadcast(cnd_t *c)
{
    return c11(dh_engine_pthread_cond_broadcast((pthread_cond_t *)c));
}
