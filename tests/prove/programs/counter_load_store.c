/* An atomic counter that is raised by a load and a store: each is atomic, both together are not.
 * Expected: assertion at `counted`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static atomic_int hits;

static void *counter(void *arg)
{
#ifdef FIXED
    hits++;
#else
    hits = hits + 1;
#endif
    return arg;
}

int main(void)
{
    RUN(counter, counter, counter);
    assert(hits == 3); /* counted */
    return 0;
}
