/* A pointer is handed over in order, but copied byte by byte; what it leads to is not in order. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct message {
    int *at;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char slot[sizeof(struct message)];
static int nothing;

__attribute__((noinline)) static void copy(char *to, const char *from, unsigned n)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < n; i++)
        to[i] = from[i];
    pthread_mutex_unlock(&lock);
}

static void *taker(void *arg)
{
    struct message got = {&nothing};
    await_turn(1);
    copy((char *)&got, slot, sizeof got);
    *got.at += 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    struct message mine = {malloc(sizeof(int))};
    *mine.at = 1;
    pthread_create(&t, NULL, taker, NULL);
    copy(slot, (char *)&mine, sizeof mine);
    give_turn(1);
    *mine.at += 1;
    pthread_join(t, NULL);
    printf("%d\n", *mine.at);
    return 0;
}
