/* The worker gives the lock back between its look at the queue and its wait, so that the signal for the only item can
 * come when nobody waits. The main thread never blocks for good: it looks for the result every ten seconds, and does not see
 * that nothing will come any more.
 * Expected: lost-wakeup at `wait`. */
#include "threads.h"

#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER, finished = PTHREAD_COND_INITIALIZER;
static int items, results;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    if (!items) {
#ifndef FIXED
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        pthread_cond_wait(&queued, &lock); /* wait */
    }
    items--;
    results++;
    pthread_cond_signal(&finished);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void await_result(void)
{
    pthread_mutex_lock(&lock);
    while (!results) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 10;
        pthread_cond_timedwait(&finished, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t w;
    pthread_create(&w, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    items++;
    pthread_cond_signal(&queued);
    pthread_mutex_unlock(&lock);
    await_result();
    pthread_join(w, NULL);
    return 0;
}
