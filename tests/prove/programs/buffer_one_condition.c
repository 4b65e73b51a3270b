/* Producers and consumers of a buffer of one place wait on the same condition, and one of them is woken: it may be one
 * who cannot go on, and nobody wakes the other.
 * Expected: lost-wakeup or deadlock at `full` or `empty`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int places = 1, promised; /* who will take promises a place, who will put an item */
static int items;

static int claim(atomic_int *n)
{
    int v = *n;
    while (v > 0)
        if (atomic_compare_exchange_strong(n, &v, v - 1))
            return 1;
    return 0;
}

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
    if (!claim(&places))
        return arg;
    promised++;
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
    if (!claim(&promised))
        return arg;
    places++;
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
