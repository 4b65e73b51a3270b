/* Peterson's lock with its first two lines exchanged: who gave way before he wished is overtaken by who sees no
 * wish.
 * Expected: assertion at `alone`. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int wants[2], turn, inside;

static void *process(void *arg)
{
    long me = (long)arg, other = 1 - me;
#ifdef FIXED
    wants[me] = 1;
    turn = (int)other;
#else
    turn = (int)other;
    wants[me] = 1;
#endif
    while (wants[other] && turn == other)
        sched_yield();
    int others = inside++;
    assert(others == 0); /* alone */
    inside--;
    wants[me] = 0;
    return arg;
}

int main(void)
{
    RUN(process, process);
    return 0;
}
