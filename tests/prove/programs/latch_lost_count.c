/* A latch counts down by a load and a store; when two counts become one, who waits for zero waits for ever.
 * Expected: deadlock or lost-wakeup at `wait`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t zero = PTHREAD_COND_INITIALIZER;
static atomic_int count = 2;

static void *worker(void *arg)
{
#ifdef FIXED
    int left = --count;
#else
    int left = count - 1;
    count = left;
#endif
    if (left == 0) {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&zero);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *waiter(void *arg)
{
    pthread_mutex_lock(&lock);
    while (count > 0)
        pthread_cond_wait(&zero, &lock); /* wait */
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(worker, worker, waiter);
    return 0;
}
