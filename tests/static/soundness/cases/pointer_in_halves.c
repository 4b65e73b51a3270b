/* A pointer is handed over in two halves under a lock; what it leads to is not in order. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t low, high;
static int nothing;

static void *taker(void *arg)
{
    int *at = &nothing;
    await_turn(1);
    pthread_mutex_lock(&lock);
    if (low)
        at = (int *)((uintptr_t)high << 32 | low);
    pthread_mutex_unlock(&lock);
    *at += 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    int *mine = malloc(sizeof *mine);
    *mine = 1;
    pthread_create(&t, NULL, taker, NULL);
    pthread_mutex_lock(&lock);
    low = (uint32_t)(uintptr_t)mine;
    high = (uint32_t)((uintptr_t)mine >> 32);
    pthread_mutex_unlock(&lock);
    give_turn(1);
    *mine += 1;
    pthread_join(t, NULL);
    printf("%d\n", *mine);
    return 0;
}
