/* Between finding the next free slot and filling it the lock is let go for a call: two fill the same slot.
 * Expected: assertion at `both there`. */
#include "threads.h"

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long slots[2];
static int used;

static long made(long number)
{
    return number + 1;
}

static void *filler(void *arg)
{
#ifdef FIXED
    long what = made((long)arg);
#endif
    pthread_mutex_lock(&lock);
    int slot = used;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    long what = made((long)arg);
    pthread_mutex_lock(&lock);
#endif
    slots[slot] = what;
    used = slot + 1;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(filler, filler);
    assert(used == 2); /* both there */
    return 0;
}
