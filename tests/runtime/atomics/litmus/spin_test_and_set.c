// A spin lock of an atomic_flag.
// WRONG: counter -DUNLOCK=relaxed
// WRONG: counter -DLOCK=relaxed
#include "spinlock.h"
#include <sched.h>

static atomic_flag taken = ATOMIC_FLAG_INIT;

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&taken, LOCK))
        sched_yield();
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&taken, UNLOCK);
}
