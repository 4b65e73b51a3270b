/* Dekker's lock, but each looks for the other's wish before it says its own.
 * Expected: assertion at `alone`. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn, inside;

static void enter(long me, long other)
{
#ifdef FIXED
    wants[me] = 1;
#endif
    while (wants[other])
        if (turn == other) {
            wants[me] = 0;
            while (turn == other)
                sched_yield();
#ifdef FIXED
            wants[me] = 1;
#endif
        } else {
            sched_yield();
        }
#ifndef FIXED
    wants[me] = 1;
#endif
}

static void *process(void *arg)
{
    long me = (long)arg, other = 1 - me;
    enter(me, other);
    int others = inside++;
    assert(others == 0); /* alone */
    inside--;
    turn = (int)other;
    wants[me] = 0;
    return arg;
}

int main(void)
{
    RUN(process, process);
    return 0;
}
