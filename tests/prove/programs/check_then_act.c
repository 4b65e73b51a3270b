/* A buyer looks under the lock whether a seat is left, and takes it under the lock, but lets go of the lock in
 * between.
 * Expected: assertion at `sold twice`. */
#include "threads.h"

#include <assert.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1;

static void *buyer(void *arg)
{
    pthread_mutex_lock(&lock);
    int left = seats;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (left > 0)
        seats--;
    assert(seats >= 0); /* sold twice */
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void)
{
    RUN(buyer, buyer);
    return 0;
}
