/* Whether the lock was got is not asked.
 * Expected: race on `hits` at `hit`. */
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void *hitter(void *arg)
{
#ifdef FIXED
    if (pthread_mutex_trylock(&lock))
        return arg;
#else
    int failed = pthread_mutex_trylock(&lock);
#endif
    hits++; /* hit */
#ifndef FIXED
    if (!failed)
#endif
        pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(hitter, hitter);
    return 0;
}
