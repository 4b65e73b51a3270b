/* Two semaphores of one permit each, taken in opposite orders.
 * Expected: deadlock at `then paint` and `then brush`. */
#include "threads.h"

#include <semaphore.h>

static sem_t brush, paint;

static void *painter(void *arg)
{
    sem_wait(&brush);
    sem_wait(&paint); /* then paint */
    sem_post(&paint);
    sem_post(&brush);
    return arg;
}

static void *cleaner(void *arg)
{
#ifdef FIXED
    sem_wait(&brush);
    sem_wait(&paint);
#else
    sem_wait(&paint);
    sem_wait(&brush); /* then brush */
#endif
    sem_post(&brush);
    sem_post(&paint);
    return arg;
}

int main(void)
{
    sem_init(&brush, 0, 1);
    sem_init(&paint, 0, 1);
    RUN(painter, cleaner);
    return 0;
}
