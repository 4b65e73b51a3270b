/* Futex system calls of libc and libstdc++: waiting and waking are visible steps. */
#include "runtime/engine/primitives/futex.h"

#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time/time.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>

static uint64_t deadline_of(int op, const struct timespec *t)
{
    bool absolute = (op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
    if (!absolute)
        return dh_engine->now_ns + (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
    return dh_virtual_time_of(op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC, t);
}

static long wait(const uint32_t *at, uint32_t value, int op, const struct timespec *until)
{
    unsigned flags = until ? DH_STEP_TIMED : 0;
    struct dh_step s = {.kind = DH_STEP_FUTEX_WAIT,
                        .flags = DH_STEP_READS,
                        .site = dh_engine_call_place(),
                        .object = (uint64_t)(uintptr_t)at,
                        .size = sizeof *at};
    dh_engine_park(&s);
    if (__atomic_load_n(at, __ATOMIC_SEQ_CST) != value) {
        dh_engine_step_failed();
        return -EAGAIN;
    }
    if (until)
        dh_engine_self()->deadline = deadline_of(op, until);
    dh_engine_self()->interrupts = until ? DH_ENDS : DH_RESTARTS;
    uint32_t alternative = dh_wait_queue_sleep(at, NULL, flags);
    dh_engine_self()->interrupts = DH_GOES_ON;
    if (alternative == DH_INTERRUPTED)
        return -EINTR;
    if (alternative == 0)
        return 0;
    dh_virtual_time_advance(dh_engine_self()->deadline);
    return -ETIMEDOUT;
}

static bool is_awaited(const uint32_t *at)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++) {
        const struct dh_actor *a = &dh_engine->actors[i];
        if (!a->ended && a->step.kind == DH_STEP_FUTEX_WAIT && a->step.object == (uint64_t)(uintptr_t)at)
            return true;
    }
    return dh_wait_queue_length(at);
}

static long wake(const uint32_t *at, uint32_t most)
{
    if (!is_awaited(at))
        return 0;
    uint32_t which =
        dh_engine_park_at(DH_STEP_FUTEX_WAKE, 0, at, NULL, most == 1 ? dh_wait_queue_wake_alternatives : NULL);
    unsigned sleepers = dh_wait_queue_length(at), n = sleepers < most ? sleepers : most;
    if (!n)
        dh_engine_step_failed();
    if (most == 1)
        dh_wait_queue_wake(at, which);
    else
        for (unsigned i = 0; i < n; i++)
            dh_wait_queue_wake(at, 0);
    return n;
}

/* Tasks that would be requeued are woken: spurious wakeups are allowed. */
static long requeue(const uint32_t *at, const long a[6], bool compares)
{
    if (compares && __atomic_load_n(at, __ATOMIC_SEQ_CST) != (uint32_t)a[5])
        return -EAGAIN;
    return wake(at, INT_MAX);
}

long dh_futex(long number, const long a[6])
{
    const uint32_t *at = (const uint32_t *)a[0];
    int op = (int)a[1], command = op & FUTEX_CMD_MASK;
    if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET)
        return wait(at, (uint32_t)a[2], op, (const struct timespec *)a[3]);
    if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET)
        return wake(at, (uint32_t)a[2]);
    if (command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE)
        return requeue(at, a, command == FUTEX_CMP_REQUEUE);
    return dh_syscalls_pass_through(number, a);
}
