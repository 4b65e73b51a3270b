/* Listeners are called with the list locked; one who removes himself wants the same lock.
 * Expected: deadlock at `remove`. */
#include "threads.h"

#include <stdatomic.h>

typedef void listener(void);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static listener *registered;

static void remove_listener(void)
{
    pthread_mutex_lock(&lock); /* remove */
    registered = NULL;
    pthread_mutex_unlock(&lock);
}

static void add_listener(listener *l)
{
    pthread_mutex_lock(&lock);
    registered = l;
    pthread_mutex_unlock(&lock);
}

static void *publisher(void *arg)
{
    pthread_mutex_lock(&lock);
    listener *l = registered;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
    if (l)
        l();
#else
    if (l)
        l();
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

/* Is there for a moment only. */
static void *subscriber(void *arg)
{
    add_listener(remove_listener);
    remove_listener();
    return arg;
}

int main(void)
{
    RUN(publisher, subscriber);
    return 0;
}
