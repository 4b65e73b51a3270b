/* Who waits for a letter holds the door; the postman must come in through the door.
 * Expected: deadlock or lost-wakeup at `letter` and `door`. */
#include "threads.h"

#include <stdatomic.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER, box = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static atomic_int announced = 1;
static int letters = 1, visits;

/* Comes only if a letter is announced; two may come for the same one. */
static void *reader(void *arg)
{
    if (!announced)
        return arg;
    announced--;
#ifndef FIXED
    pthread_mutex_lock(&door);
#endif
    pthread_mutex_lock(&box);
    while (letters == 0)
        pthread_cond_wait(&delivered, &box); /* letter */
    letters--;
    pthread_mutex_unlock(&box);
#ifdef FIXED
    pthread_mutex_lock(&door);
#endif
    visits++;
    pthread_mutex_unlock(&door);
    return arg;
}

static void *postman(void *arg)
{
    pthread_mutex_lock(&door); /* door */
    visits++;
    pthread_mutex_unlock(&door);
    pthread_mutex_lock(&box);
    letters++;
    pthread_cond_signal(&delivered);
    pthread_mutex_unlock(&box);
    return arg;
}

int main(void)
{
    RUN(reader, reader, postman);
    return 0;
}
