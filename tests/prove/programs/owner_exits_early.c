/* The worker says that it is done before it has written its last word, and the owner takes the memory away.
 * Expected: use-after-free at `last word` and `free`. */
#include "threads.h"

#include <stdatomic.h>

struct task {
    atomic_int result;
};

static struct task *task;
static atomic_int done;

static void *worker(void *arg)
{
#ifdef FIXED
    task->result = 42;
    done = 1;
#else
    done = 1;
    task->result = 42; /* last word */
#endif
    return arg;
}

/* Does not wait: what is not done yet is left to others. */
static void *owner(void *arg)
{
    if (done)
        free(task); /* free */
    return arg;
}

int main(void)
{
    task = calloc(1, sizeof *task);
    RUN(worker, owner);
    return 0;
}
