/* A spinlock that waits until it is free and then takes it, in two steps.
 * Expected: race on `total` at `add`. */
#include "threads.h"

#include <sched.h>
#include <stdatomic.h>

static atomic_int taken;
static int total;

static void spin_lock(void)
{
#ifdef FIXED
    while (atomic_exchange(&taken, 1))
        sched_yield();
#else
    while (taken)
        sched_yield();
    taken = 1;
#endif
}

static void *adder(void *arg)
{
    spin_lock();
    total += 3; /* add */
    taken = 0;
    return arg;
}

int main(void)
{
    RUN(adder, adder);
    return 0;
}
