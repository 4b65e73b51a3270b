#include "invisible.h"

#include <sched.h>

static int said[16];

void invisible_say(int step)
{
    __atomic_store_n(&said[step], 1, __ATOMIC_SEQ_CST);
}

int invisible_said(int step)
{
    return __atomic_load_n(&said[step], __ATOMIC_SEQ_CST);
}

void invisible_await(int step)
{
    while (!invisible_said(step))
        sched_yield();
}
