// A ticket lock: whoever is served has seen the release of the one before.
// WRONG: counter -DUNLOCK=relaxed
// WRONG: counter -DLOCK=relaxed
#include "spinlock.h"
#include <sched.h>

static atomic_uint next_ticket, served;

static void lock(void)
{
    unsigned mine = ADD(next_ticket, 1, relaxed);
    while (LOAD(served, LOCK) != mine)
        sched_yield();
}

static void unlock(void)
{
    STORE(served, LOAD(served, relaxed) + 1, UNLOCK);
}
