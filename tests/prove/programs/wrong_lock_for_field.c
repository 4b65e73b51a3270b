/* Packets and bytes have a lock each; the one who resets both holds only one of them.
 * Expected: race on `stats.bytes` at `count` and `reset`. */
#include "threads.h"

static struct {
    pthread_mutex_t packets_lock, bytes_lock;
    long packets, bytes;
} stats = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void *receiver(void *arg)
{
    pthread_mutex_lock(&stats.packets_lock);
    stats.packets++;
    pthread_mutex_unlock(&stats.packets_lock);
    pthread_mutex_lock(&stats.bytes_lock);
    stats.bytes += 1500; /* count */
    pthread_mutex_unlock(&stats.bytes_lock);
    return arg;
}

static void *resetter(void *arg)
{
    pthread_mutex_lock(&stats.packets_lock);
    stats.packets = 0;
#ifdef FIXED
    pthread_mutex_lock(&stats.bytes_lock);
#endif
    stats.bytes = 0; /* reset */
#ifdef FIXED
    pthread_mutex_unlock(&stats.bytes_lock);
#endif
    pthread_mutex_unlock(&stats.packets_lock);
    return arg;
}

int main(void)
{
    RUN(receiver, resetter);
    return 0;
}
