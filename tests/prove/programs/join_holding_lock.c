/* Who stops the helper holds the lock that the helper takes if it has something to say.
 * Expected: deadlock at `report` and `join`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stopping, reports;

static void *helper(void *arg)
{
    own_work();
    if (!stopping) {
        pthread_mutex_lock(&lock); /* report */
        reports++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t t = start(helper, 0);
#ifdef FIXED
    stopping = 1;
#else
    pthread_mutex_lock(&lock);
    stopping = 1;
#endif
    pthread_join(t, NULL); /* join */
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}
