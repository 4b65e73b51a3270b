/* Who has no access of its own gives one callee what another returned: an address. finds: race */
#include "order.h"

#include <pthread.h>
#include <stdio.h>

static struct counter {
    long n;
} counter;

static struct counter *the_counter(void)
{
    return &counter;
}

static long look(struct counter *c)
{
    return c->n;
}

static long now(void)
{
    return look(the_counter());
}

static void *reader(void *arg)
{
    await_turn(1);
    printf("%ld\n", now());
    return arg;
}

static void *writer(void *arg)
{
    counter.n++;
    give_turn(1);
    return arg;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, reader, NULL);
    pthread_create(&second, NULL, writer, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
