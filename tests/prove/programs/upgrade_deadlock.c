/* Two readers both want to become writers, and each waits for the other one to leave.
 * Expected: deadlock or lost-wakeup at `upgrade`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, writer, cached;
static atomic_int stale = 1;

static void read_lock(void)
{
    pthread_mutex_lock(&lock);
    while (writer)
        pthread_cond_wait(&changed, &lock);
    readers++;
    pthread_mutex_unlock(&lock);
}

/* From reader to writer. */
static void upgrade(void)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    readers--;
    pthread_cond_broadcast(&changed);
    while (readers > 0 || writer)
        pthread_cond_wait(&changed, &lock);
#else
    while (readers > 1)
        pthread_cond_wait(&changed, &lock); /* upgrade */
    readers--;
#endif
    writer = 1;
    pthread_mutex_unlock(&lock);
}

static void unlock(int *held)
{
    pthread_mutex_lock(&lock);
    --*held;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *user(void *arg)
{
    read_lock();
    if (!stale) {
        unlock(&readers);
        return arg;
    }
    stale = 0;
    upgrade();
    cached++;
    unlock(&writer);
    return arg;
}

int main(void)
{
    RUN(user, user);
    return 0;
}
