/* A join of a detached thread fails at once, and nobody looks. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdio.h>

static int sum;

static void *writer(void *arg)
{
    sum++;
    give_turn(1);
    await_turn(2);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_create(&t, &detached, writer, NULL);
    await_turn(1);
    pthread_join(t, NULL);
    sum++;
    give_turn(2);
    printf("%d\n", sum);
    return 0;
}
