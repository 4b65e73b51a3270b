/* Fibers by ucontext that move between threads: one is put into the queue of those that can go on before its context is
 * saved. Expected: race or crash or assertion. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>
#include <ucontext.h>

enum { STACK = 64 << 10 };

static ucontext_t fiber, back[2];
static atomic_int ready, at_thread;
static int steps;
static char stack[STACK];
#ifdef FIXED
static atomic_int leaving;
#endif

static void fiber_body(void)
{
    steps++;
#ifndef FIXED
    ready = 1; /* another thread may resume it from here on */
#else
    leaving = 1;
#endif
    swapcontext(&fiber, &back[at_thread]);
    steps++;
    setcontext(&back[at_thread]);
}

static void *first(void *arg)
{
    at_thread = 0;
    swapcontext(&back[0], &fiber);
#ifdef FIXED
    if (leaving)
        ready = 1;
#endif
    return arg;
}

static void *second(void *arg)
{
    while (!ready)
        sched_yield();
    at_thread = 1;
    swapcontext(&back[1], &fiber);
    return arg;
}

int main(void)
{
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = STACK;
    fiber.uc_link = &back[0];
    makecontext(&fiber, fiber_body, 0);
    RUN(first, second);
    assert(steps == 2);
    return 0;
}
