/* The twin of exit_bad.c.
 * Expected: nothing. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int uses;

static void *worker(void *arg)
{
    pthread_mutex_lock(&lock);
    uses++;
    pthread_mutex_unlock(&lock);
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
