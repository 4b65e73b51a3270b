/* Fibers: switching orders, unless it is said not to; a fiber may go on in another thread; what it does is told as its
 * own. */
#include "case.h"

#include <deadheat/annotate_abi.h>
#include <stdatomic.h>
#include <ucontext.h>

static ucontext_t outside, inside;
static void *fiber;
static _Atomic(void *) resident; /* whom the fiber goes back to; relaxed, which orders nothing */
static char stack[64 << 10];

static void go(void *to, ucontext_t *from, ucontext_t *there)
{
    __tsan_switch_to_fiber(to, broken ? 1 : 0);
    swapcontext(from, there);
}

static void fiber_body(void)
{
    for (;;) {
        shared++;
        go(atomic_load_explicit(&resident, memory_order_relaxed), &inside, &outside);
    }
}

static void make_fiber(void)
{
    fiber = __tsan_create_fiber(0);
    __tsan_set_fiber_name(fiber, "coroutine");
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    makecontext(&inside, fiber_body, 0);
}

static void write_and_switch(void)
{
    atomic_store_explicit(&resident, __tsan_get_current_fiber(), memory_order_relaxed);
    shared = 1;
    go(fiber, &outside, &inside);
    shared++;
}

static void only_switch(void)
{
    atomic_store_explicit(&resident, __tsan_get_current_fiber(), memory_order_relaxed);
    go(fiber, &outside, &inside);
}

static void write_and_leave(void)
{
    shared = 1;
    only_switch();
}

/* It carries what it did from the first thread to the second. */
static void destroy(void)
{
    only_switch();
    __tsan_destroy_fiber(fiber);
}

static void destroy_running(void)
{
    void *mine = __tsan_create_fiber(0), *before = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(mine, 0);
    if (!broken)
        __tsan_switch_to_fiber(before, 0);
    __tsan_destroy_fiber(mine);
    if (broken)
        __tsan_switch_to_fiber(before, 0);
}

static const struct test all[] = {
    {"switch", "rite of size 4 by thread T[0-9]+ 'coroutine'", make_fiber, write_and_switch, nothing},
    {"migrate", RACE, make_fiber, write_and_leave, destroy},
    {"destroy_running", "a fiber is destroyed while it runs", nothing, destroy_running, nothing},
};
CASES(all)
