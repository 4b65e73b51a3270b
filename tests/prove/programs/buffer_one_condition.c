/* Producers and consumers of a buffer of one place wait on the same condition, and one of them is woken: it may be
 * one who cannot go on, and nobody wakes the other.
 * Expected: lost-wakeup or deadlock at `full` or `empty`. */
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int items;

static void tell(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void *producer(void *arg)
{
    pthread_mutex_lock(&lock);
    while (items == 1)
        pthread_cond_wait(&changed, &lock); /* full */
    items++;
    tell();
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *consumer(void *arg)
{
    pthread_mutex_lock(&lock);
    while (items == 0)
        pthread_cond_wait(&changed, &lock); /* empty */
    items--;
    tell();
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(producer, consumer, producer, consumer);
    return 0;
}
