/* Both hold the lock, but it was made anew in between, which orders nothing. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *writer(void *arg)
{
    pthread_mutex_lock(&lock);
    sum = 1;
    pthread_mutex_unlock(&lock);
    give_turn(1);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    await_turn(1);
    pthread_mutex_destroy(&lock);
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_lock(&lock);
    sum = 2;
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("%d\n", sum);
    return 0;
}
