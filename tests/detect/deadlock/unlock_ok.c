/* The twin of unlock_bad.c: main gives it back itself.
 * Expected: nothing. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t token = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static void *helper(void *arg)
{
    pthread_mutex_lock(&token);
    pthread_mutex_unlock(&token);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&token);
    turns++;
    pthread_mutex_unlock(&token);
    pthread_create(&t, NULL, helper, NULL);
    pthread_join(t, NULL);
    printf("%d turn\n", turns);
    return 0;
}
