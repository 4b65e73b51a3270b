#include "order.h"

#include <sched.h>

static int steps;

void step_done(int n)
{
    __atomic_fetch_or(&steps, 1 << n, __ATOMIC_SEQ_CST);
}

void wait_step(int n)
{
    while (!(__atomic_load_n(&steps, __ATOMIC_SEQ_CST) & 1 << n))
        sched_yield();
}
