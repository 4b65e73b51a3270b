/* A library sells the last seat twice: it looks and takes under its lock, but not in one piece.
 * Expected: assertion at `sold twice`. */
#ifdef LIBRARY_1
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1;
void buy(void);
void buy(void)
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
}
#else
#include "../programs/threads.h"
void buy(void);
static void *buyer(void *arg)
{
    buy();
    return arg;
}
int main(void)
{
    RUN(buyer, buyer);
    return 0;
}
#endif
