/* A consumer that was woken does not look again: another one came first and took the item.
 * Expected: assertion at `empty`. */
#include "threads.h"

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nonempty = PTHREAD_COND_INITIALIZER;
static int items;

static void *producer(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&nonempty);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *consumer(void *arg)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (items == 0)
#else
    if (items == 0)
#endif
        pthread_cond_wait(&nonempty, &lock);
    assert(items > 0); /* empty */
    items--;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    pthread_t p = start(producer, 0);
    own_work();
    pthread_t a = start(consumer, 1), b = start(consumer, 2);
    finish(p);
    finish(a);
    finish(b);
    return 0;
}
