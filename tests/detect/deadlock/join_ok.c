/* The twin of join_bad.c: the lock is taken after the join.
 * Expected: nothing. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static int jobs = 3;

static void *worker(void *arg)
{
    pthread_mutex_lock(&queue);
    jobs--;
    pthread_mutex_unlock(&queue);
    invisible_reach(1);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    invisible_await(1);
    pthread_join(t, NULL);
    pthread_mutex_lock(&queue);
    pthread_mutex_unlock(&queue);
    printf("%d jobs\n", jobs);
    return 0;
}
