/* One slot, filled and emptied in turns, outside of the lock. BROKEN 1: the filler does not wait until it is empty.
 * 2: the taker says empty before it has read. */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;
static char slot[64];

static void wait_until(int state)
{
    pthread_mutex_lock(&lock);
    while (full != state)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void announce(int state)
{
    pthread_mutex_lock(&lock);
    full = state;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *filler(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++) {
#if BROKEN != 1
        wait_until(0);
#endif
        snprintf(slot, sizeof slot, "letter %d", i);
        announce(1);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, filler, NULL);
    for (int i = 0; i < 10; i++) {
        wait_until(1);
#if BROKEN == 2
        announce(0);
        puts(slot);
#else
        puts(slot);
        announce(0);
#endif
    }
    pthread_join(thread, NULL);
    return 0;
}
