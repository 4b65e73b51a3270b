/* Workers go on until main, which slept, tells them to stop; main adds up what they did without the lock.
 * Expected: race on `done`. */
#include "threads.h"

#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_stopped;
static int done;

static void *worker(void *arg)
{
    while (!is_stopped) {
        pthread_mutex_lock(&lock);
        done++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t first = start(worker, 0), second = start(worker, 0);
    usleep(1000);
    is_stopped = 1;
#ifdef FIXED
    finish(first);
    finish(second);
#endif
    int seen = done;
#ifndef FIXED
    finish(first);
    finish(second);
#endif
    return seen < 0;
}
