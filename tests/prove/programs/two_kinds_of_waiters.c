/* Two threads wait for different things on one condition, and one signal is sent: it may wake the one whom it does
 * not concern.
 * Expected: lost-wakeup or deadlock at `wait`. */
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static int there[2];

static void deliver(int what)
{
    pthread_mutex_lock(&lock);
    there[what] = 1;
#ifdef FIXED
    pthread_cond_broadcast(&delivered);
#else
    pthread_cond_signal(&delivered);
#endif
    pthread_mutex_unlock(&lock);
}

static void *supplier(void *arg)
{
    deliver(0);
    deliver(1);
    return arg;
}

static void *user(void *arg)
{
    int what = (int)(long)arg - 1;
    pthread_mutex_lock(&lock);
    while (!there[what])
        pthread_cond_wait(&delivered, &lock); /* wait */
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(supplier, user, user);
    return 0;
}
