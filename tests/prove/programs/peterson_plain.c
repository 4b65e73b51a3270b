/* Peterson's lock with ordinary variables: compiler and processor may exchange the two lines that must not be
 * exchanged.
 * Expected: race on `turn` at `after you`.
 * Also: race on `wants`, race on `inside`. */
#include "threads.h"

#include <sched.h>
#include <stdatomic.h>

#ifdef FIXED
typedef atomic_int word;
#else
typedef volatile int word;
#endif

static word wants[2], turn;
static int inside;

static void *process(void *arg)
{
    long me = (long)arg, other = 1 - me;
    wants[me] = 1;
    turn = (int)other; /* after you */
    while (wants[other] && turn == other)
        sched_yield();
    inside++;
    wants[me] = 0;
    return arg;
}

int main(void)
{
    RUN(process, process);
    return 0;
}
