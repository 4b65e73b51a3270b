/* The reference count goes down in one step and is asked in another: the object may be gone by then.
 * Expected: use-after-free at `ask` and `free`. */
#include "threads.h"

#include <stdatomic.h>

struct object {
    atomic_int references;
    int payload;
};

static struct object *shared;

static void release(struct object *o)
{
#ifdef FIXED
    if (atomic_fetch_sub(&o->references, 1) == 1)
        free(o);
#else
    atomic_fetch_sub(&o->references, 1);
    if (o->references == 0) /* ask */
        free(o);            /* free */
#endif
}

static void *user(void *arg)
{
    release(shared);
    return arg;
}

int main(void)
{
    shared = calloc(1, sizeof *shared);
    shared->references = 2;
    RUN(user, user);
    return 0;
}
