/* The helper gives back the lock that main has taken.
 * Expected: lock-misuse observed at `gave` and `took`. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t token = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *helper(void *arg)
{
    pthread_mutex_unlock(&token); /* gave */
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&token); /* took */
    turns++;
    pthread_create(&t, NULL, helper, NULL);
    pthread_join(t, NULL);
    printf("%d turn\n", turns);
    return 0;
}
