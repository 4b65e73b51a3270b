/* The old version is freed as soon as the new one is published, without waiting for who still reads it.
 * Expected: use-after-free at `read` and `free`. */
#include "threads.h"

#include <sched.h>
#include <stdatomic.h>

struct route {
    int hops;
};

static struct route *_Atomic current;
static atomic_int readers;
static atomic_int hops_seen;

static void *reader(void *arg)
{
    readers++;
    struct route *r = current;
    int hops = r->hops; /* read */
    readers--;
    hops_seen = hops;
    return arg;
}

static void *updater(void *arg)
{
    struct route *fresh = malloc(sizeof *fresh);
    fresh->hops = 2;
    struct route *old = atomic_exchange(&current, fresh);
#ifdef FIXED
    while (readers)
        sched_yield();
#endif
    free(old); /* free */
    return arg;
}

int main(void)
{
    struct route *first = malloc(sizeof *first);
    first->hops = 1;
    current = first;
    RUN(reader, updater);
    free(current);
    return hops_seen > 2;
}
