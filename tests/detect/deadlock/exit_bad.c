/* The worker ends without giving the lock back.
 * Expected: lock-misuse observed at `took`. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock); /* took */
    uses++;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, worker, NULL);
    pthread_join(t, NULL);
    puts("over");
    return 0;
}
