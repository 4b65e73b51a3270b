/* A program that brings its own malloc, with a spin lock around its lists: free forgets the lock.
 * Expected: race or crash or assertion. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_flag busy;

static void lock(void)
{
    while (atomic_flag_test_and_set(&busy))
        sched_yield();
}

#define LOCK lock()
#define UNLOCK atomic_flag_clear(&busy)
#include "own_malloc.h"

static void release(void *at)
{
#ifdef FIXED
    LOCK;
#endif
    give(at);
#ifdef FIXED
    UNLOCK;
#endif
}

static void *worker(void *arg)
{
    for (int i = 0; i < 3; i++) {
        long *mine = malloc(sizeof *mine);
        *mine = (long)arg;
        assert(*mine == (long)arg);
        free(mine);
    }
    return arg;
}

int main(void)
{
    RUN(worker, worker);
    return 0;
}
