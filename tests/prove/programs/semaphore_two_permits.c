/* A semaphore that should let one in lets in two.
 * Expected: race on `total` at `add`. */
#include "threads.h"

#include <semaphore.h>

#ifdef FIXED
enum { PERMITS = 1 };
#else
enum { PERMITS = 2 };
#endif

static sem_t gate;
static int total;

static void *adder(void *arg)
{
    sem_wait(&gate);
    total += 2; /* add */
    sem_post(&gate);
    return arg;
}

int main(void)
{
    sem_init(&gate, 0, PERMITS);
    RUN(adder, adder);
    return 0;
}
