/* Semaphores: the value is the lower half of glibc's first word. Waits are cancellation points. */
#include "runtime/engine/primitives/primitives.h"

#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/tasks/task.h"

#include <errno.h>
#include <limits.h>

static unsigned *value_of(sem_t *s)
{
    return (unsigned *)s;
}

static int fail(int error)
{
    dh_engine_step_failed();
    errno = error;
    return -1;
}

static uint32_t when_positive(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    if (s->flags & DH_STEP_TRY || *(const unsigned *)(uintptr_t)s->object || dh_task_is_cancelled(t))
        return 1;
    return s->flags & DH_STEP_TIMED ? 2 : 0;
}

static int decrement(sem_t *s, unsigned flags)
{
    if (!(flags & DH_STEP_TRY)) {
        dh_task_cancel_point();
        if (!*value_of(s))
            dh_signals_enter_wait();
    }
    uint32_t alternative = dh_signals_park_at(DH_STEP_SEM_WAIT, flags, s, NULL, when_positive,
                                              flags & DH_STEP_TIMED ? DH_ENDS : DH_RESTARTS);
    if (alternative == DH_INTERRUPTED) {
        errno = EINTR;
        return -1;
    }
    if (alternative == 1) {
        dh_virtual_time_advance(dh_engine_self()->deadline);
        return fail(ETIMEDOUT);
    }
    if (!*value_of(s)) {
        if (!(flags & DH_STEP_TRY))
            dh_task_cancel_point();
        return fail(EAGAIN);
    }
    --*value_of(s);
    return 0;
}

int dh_engine_sem_wait(sem_t *s)
{
    return decrement(s, 0);
}

int dh_engine_sem_trywait(sem_t *s)
{
    return decrement(s, DH_STEP_TRY);
}

int dh_engine_sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
    if (!dh_timespec_is_valid(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)) {
        errno = EINVAL;
        return -1;
    }
    dh_engine_self()->deadline = dh_virtual_time_of(clock, until);
    return decrement(s, DH_STEP_TIMED);
}

int dh_engine_sem_timedwait(sem_t *s, const struct timespec *until)
{
    return dh_engine_sem_clockwait(s, CLOCK_REALTIME, until);
}

int dh_engine_sem_post(sem_t *s)
{
    dh_engine_park_at(DH_STEP_SEM_POST, 0, s, NULL, NULL);
    if (*value_of(s) == INT_MAX)
        return fail(EOVERFLOW);
    ++*value_of(s);
    return 0;
}

void dh_engine_sem_before_getvalue(const sem_t *s)
{
    dh_engine_park_at(DH_STEP_SEM_WAIT, DH_STEP_TRY | DH_STEP_SHARED, s, NULL, NULL);
    dh_engine_step_failed();
}
