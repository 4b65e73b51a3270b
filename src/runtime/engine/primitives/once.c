/* pthread_once, call_once, and guards of function-local statics: the real functions keep the state, here a task waits
 * while another runs the routine. */
#include "event/site.h"
#include "runtime/engine/primitives/primitives.h"

enum { ONCE_RUNS = 1, GUARD_RUNS = 1 << 8 };

static uint32_t when_once_idle(const struct dh_task *t)
{
    return !(*(const volatile int *)(uintptr_t)dh_task_step(t)->object & ONCE_RUNS);
}

static uint32_t when_guard_idle(const struct dh_task *t)
{
    return !(*(const volatile int *)(uintptr_t)dh_task_step(t)->object & GUARD_RUNS);
}

void dh_engine_once_begins(const int *flag)
{
    dh_engine_park_at(DH_STEP_ONCE, 0, flag, NULL, when_once_idle);
}

void dh_engine_guard_begins(const int *guard)
{
    dh_engine_park_at(DH_STEP_ONCE, 0, guard, NULL, when_guard_idle);
}

void dh_engine_guard_done(void *guard)
{
    struct dh_step s = {.kind = DH_STEP_WRITE,
                        .order = DH_ORDER_RELEASE,
                        .flags = DH_STEP_WRITES | DH_STEP_ATOMIC,
                        .site = dh_task_step(dh_engine_self())->site,
                        .object = (uint64_t)(uintptr_t)guard,
                        .size = 1};
    dh_engine_park(&s);
    __atomic_store_n((unsigned char *)guard, 1, __ATOMIC_RELEASE);
}

void dh_engine_once_ends(const void *flag)
{
    dh_engine_park_at(DH_STEP_ONCE_END, 0, flag, NULL, NULL);
}
