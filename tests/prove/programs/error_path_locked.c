/* The way out for `busy` forgets the lock; who tries again blocks himself.
 * Expected: deadlock at `try`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int busy;
static int uses;

static int use(void)
{
    pthread_mutex_lock(&lock); /* try */
    if (busy) {
#ifdef FIXED
        pthread_mutex_unlock(&lock);
#endif
        return -1;
    }
    uses++;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void *user(void *arg)
{
    if (use() < 0)
        use();
    return arg;
}

static void *cleaner(void *arg)
{
    busy = 1;
    busy = 0;
    return arg;
}

int main(void)
{
    RUN(cleaner, user);
    return 0;
}
