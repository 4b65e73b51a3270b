/* To save a signal, the producer asks whether somebody waits; it asks before it takes the lock, and the answer is
 * old.
 * Expected: lost-wakeup or deadlock at `wait`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nonempty = PTHREAD_COND_INITIALIZER;
static atomic_int waiting;
static int items;

static void *producer(void *arg)
{
#ifndef FIXED
    int signal = waiting;
#endif
    pthread_mutex_lock(&lock);
#ifdef FIXED
    int signal = waiting;
#endif
    items++;
    pthread_mutex_unlock(&lock);
    if (signal)
        pthread_cond_signal(&nonempty);
    return arg;
}

static void *consumer(void *arg)
{
    pthread_mutex_lock(&lock);
    waiting++;
    while (items == 0)
        pthread_cond_wait(&nonempty, &lock); /* wait */
    waiting--;
    items--;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(producer, consumer);
    return 0;
}
