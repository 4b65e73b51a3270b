/* Two readers both want to become writers, and each waits for the other one to leave.
 * Expected: deadlock or lost-wakeup at `upgrade`. */
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int readers, writer, cached;

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
    if (cached) {
        unlock(&readers);
        return arg;
    }
    upgrade();
    cached = 1;
    unlock(&writer);
    return arg;
}

int main(void)
{
    RUN(user, user);
    return 0;
}
