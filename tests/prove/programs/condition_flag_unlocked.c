/* The flag is changed without the lock: between the waiter's look and his wait, where the signal finds nobody.
 * Expected: lost-wakeup at `wait`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t finished = PTHREAD_COND_INITIALIZER;
static atomic_int done;

static void *worker(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    done = 1;
    pthread_cond_signal(&finished);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *waiter(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!done)
        pthread_cond_wait(&finished, &lock); /* wait */
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(worker, waiter);
    return 0;
}
