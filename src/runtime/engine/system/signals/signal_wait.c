/* Waits that signals end: sigwait and its like, sigsuspend, pause; and what other waits need for that. */
#include "runtime/engine/system/signals/signal_calls.h"

#include "runtime/core/thread_state.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/platform/bytes.h"

#include <errno.h>

uint32_t dh_signals_park_at(enum dh_step_kind kind, unsigned flags, const void *object, const void *second,
                            dh_engine_alternatives *alternatives, enum dh_interrupts how)
{
    struct dh_task *t = dh_engine_self();
    t->interrupts = (uint8_t)how;
    uint32_t alternative = dh_engine_park_at(kind, flags, object, second, alternatives);
    t->interrupts = DH_GOES_ON;
    return alternative;
}

void dh_signals_enter_wait(void)
{
    uint32_t place = __dh_thread.place;
    if (dh_engine_self()->has_mask_after || !dh_signals_have_handlers()) /* its mask and the wait are one */
        return;
    dh_engine_park_at(DH_STEP_ENTER, 0, NULL, NULL, NULL);
    __dh_thread.place = place;
}

long dh_signals_with_mask(const uint64_t *mask, long (*wait)(void *), void *argument)
{
    struct dh_task *t = dh_engine_self();
    if (!mask)
        return wait(argument);
    dh_signals_enter_wait();
    uint64_t before = t->mask;
    t->mask_after = before;
    t->has_mask_after = true;
    t->mask = *mask & ~(dh_signal_bit(SIGKILL) | dh_signal_bit(SIGSTOP));
    long result = wait(argument);
    if (t->has_mask_after)
        t->mask = before;
    t->has_mask_after = false;
    dh_signals_deliver(t);
    return result;
}

/* ---- pause, sigsuspend ---- */

static uint32_t when_cancelled(const struct dh_task *t)
{
    return dh_task_is_cancelled(t);
}

static long wait_for_handler(void *unused)
{
    (void)unused;
    dh_task_cancel_point();
    dh_engine_self()->awaited_signal = true;
    dh_signals_park_at(DH_STEP_DELIVER, 0, NULL, NULL, when_cancelled, DH_PAUSES);
    dh_task_cancel_point();
    return -EINTR;
}

long dh_signals_pause(long number, const long a[6])
{
    (void)number, (void)a;
    dh_signals_enter_wait();
    return wait_for_handler(NULL);
}

long dh_signals_suspend(long number, const long a[6])
{
    uint64_t mask = *(const uint64_t *)a[0];
    (void)number;
    return dh_signals_with_mask(&mask, wait_for_handler, NULL);
}

/* ---- sigwait, sigwaitinfo, sigtimedwait ---- */

static uint32_t when_awaited(const struct dh_task *t)
{
    const struct dh_step *s = dh_task_step(t);
    if (s->flags & DH_STEP_TRY || dh_signals_possible(t) & t->awaited || dh_task_is_cancelled(t))
        return 1;
    return s->flags & DH_STEP_TIMED ? 2 : 0;
}

static unsigned flags_of(const struct timespec *timeout)
{
    if (!timeout)
        return 0;
    return timeout->tv_sec || timeout->tv_nsec ? DH_STEP_TIMED : DH_STEP_TRY;
}

static long took(struct dh_task *t, uint64_t set, siginfo_t *out)
{
    siginfo_t info;
    if (!dh_signals_dequeue(t, set, &info)) {
        dh_task_cancel_point();
        return -EAGAIN;
    }
    dh_engine->executed.object = (uint64_t)info.si_signo;
    if (out)
        dh_bytes_copy(out, &info, sizeof info);
    return info.si_signo;
}

long dh_signals_timedwait(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    uint64_t set = *(const uint64_t *)a[0];
    const struct timespec *timeout = (const struct timespec *)a[2];
    unsigned flags = flags_of(timeout);
    (void)number;
    if (timeout && !dh_timespec_is_valid(timeout))
        return -EINVAL;
    dh_task_cancel_point();
    if (flags & DH_STEP_TIMED)
        t->deadline = dh_engine->now_ns + (uint64_t)timeout->tv_sec * 1000000000u + (uint64_t)timeout->tv_nsec;
    t->awaited = set & ~(dh_signal_bit(SIGKILL) | dh_signal_bit(SIGSTOP));
    t->awaited_signal = true;
    uint32_t alternative = dh_signals_park_at(DH_STEP_DELIVER, flags, NULL, NULL, when_awaited, DH_ENDS);
    t->awaited = 0;
    if (alternative == DH_INTERRUPTED)
        return -EINTR;
    if (alternative == 1) /* unless a timer expired before */
        dh_virtual_time_advance(t->deadline);
    return took(t, alternative == 1 ? dh_signals_pending(t) & set : set, (siginfo_t *)a[1]);
}
