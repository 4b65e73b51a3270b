/* A worker of a pool finds no job and then asks whether all is over: the last job may have come in between.
 * Expected: assertion at `all done`. */
#include "threads.h"

#include <assert.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queued;
static atomic_int stopped, performed;

static int take_job(void)
{
    pthread_mutex_lock(&lock);
    int found = queued > 0;
    queued -= found;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *worker(void *arg)
{
    for (;;) {
#ifdef FIXED
        int over = stopped, found = take_job();
#else
        int found = take_job(), over = stopped;
#endif
        if (found)
            performed++;
        else if (over)
            return arg;
        else
            sched_yield();
    }
}

static void *client(void *arg)
{
    pthread_mutex_lock(&lock);
    queued++;
    pthread_mutex_unlock(&lock);
    stopped = 1;
    return arg;
}

int main(void)
{
    RUN(client, worker);
    assert(performed == 1); /* all done */
    return 0;
}
