/* The waiter looks at the flag before it takes the lock: a signal sent between the look and the wait is lost.
 * Expected: lost-wakeup at `wait`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *waiter(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&told, &lock);
    pthread_mutex_unlock(&lock);
#else
    if (!ready) {
        pthread_mutex_lock(&lock);
        pthread_cond_wait(&told, &lock); /* wait */
        pthread_mutex_unlock(&lock);
    }
#endif
    return arg;
}

static void *teller(void *arg)
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(teller, waiter);
    return 0;
}
