/* A consumer that was woken does not look again: another one came first and took the item.
 * Expected: assertion at `empty`. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t nonempty = PTHREAD_COND_INITIALIZER;
static atomic_int announced; /* items that are there or will be */
static int items;

static void *producer(void *arg)
{
    announced = 2;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_signal(&nonempty);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

/* Does not come for nothing. */
static void *consumer(void *arg)
{
    if (!announced)
        return arg;
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
    RUN(producer, consumer, consumer);
    return 0;
}
