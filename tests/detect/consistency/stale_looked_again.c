/* As stale_section.c, but the stock is looked at again in the section that writes it.
 * Expected: nothing. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long stock = 1000;

/* While the first one thinks, the second does all of it; no detector sees why. */
static void think(long me)
{
    if (me == 0) {
        invisible_reach(1);
        invisible_await(2);
    }
}

static void sell(long amount, long me)
{
    pthread_mutex_lock(&lock);
    long had = stock;
    pthread_mutex_unlock(&lock);
    think(me);
    pthread_mutex_lock(&lock);
    if (stock == had)
        stock = stock - amount;
    pthread_mutex_unlock(&lock);
}

static void *keeper(void *arg)
{
    long me = (long)arg;
    invisible_await((int)me);
    sell(1, me);
    invisible_reach((int)me + 1);
    return NULL;
}

int main(void)
{
    pthread_t keepers[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&keepers[i], NULL, keeper, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(keepers[i], NULL);
    puts("closed");
    return 0;
}
