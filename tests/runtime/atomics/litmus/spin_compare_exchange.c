// A lock by weak compare-exchange, given back by exchange.
// WRONG: counter -DUNLOCK=relaxed
// WRONG: counter -DLOCK=relaxed
#include "spinlock.h"
#include <sched.h>

static _Atomic unsigned char held;

static void lock(void)
{
    for (unsigned char expected = 0; !atomic_compare_exchange_weak_explicit(&held, &expected, 1, LOCK, relaxed);
         expected = 0)
        sched_yield();
}

static void unlock(void)
{
    EXCHANGE(held, 0, UNLOCK);
}
