/* A thread learns of a local variable by a copy of a struct that points to it. finds: race */
#include "order.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct closure {
    int *number;
};

static void *work(void *arg)
{
    struct closure *c = arg;
    await_turn(1);
    *c->number += 1;
    give_turn(2);
    return NULL;
}

static void start(pthread_t *t, const struct closure *given)
{
    struct closure *own = malloc(sizeof *own);
    memcpy(own, given, sizeof *own);
    pthread_create(t, NULL, work, own);
}

int main(void)
{
    int number = 3;
    struct closure c = {&number};
    pthread_t t;
    start(&t, &c);
    number = 4;
    give_turn(1);
    await_turn(2);
    number += 2;
    pthread_join(t, NULL);
    printf("%d\n", number > 0);
    return 0;
}
