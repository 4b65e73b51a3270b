/* Main waits for the end of a thread with the lock held that this thread needs.
 * Expected: deadlock suspected at `want` and `want too`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static int jobs = 3;

static void *worker(void *arg)
{
    pthread_mutex_lock(&queue); /* want too */
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
    pthread_mutex_lock(&queue);
    pthread_join(t, NULL); /* want */
    pthread_mutex_unlock(&queue);
    printf("%d jobs\n", jobs);
    return 0;
}
