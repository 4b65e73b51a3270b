/* A barrier for two, but who sees that it is called off, if only for a moment, does not come: the other one, who
 * came a moment earlier or later, waits for ever.
 * Expected: deadlock at `meet`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_barrier_t both;
static atomic_int called_off;

static void *caller(void *arg)
{
    called_off = 1;
    called_off = 0;
    return arg;
}

static void *walker(void *arg)
{
#ifndef FIXED
    if (called_off)
        return arg;
#endif
    pthread_barrier_wait(&both); /* meet */
    return arg;
}

int main(void)
{
    pthread_barrier_init(&both, NULL, 2);
    RUN(caller, walker, walker);
    return 0;
}
