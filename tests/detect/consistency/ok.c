/* As bad.c, with the account's lock held from the read to the write.
 * Expected: nothing. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

/* While the first one thinks, the second comes; no detector sees why. */
static void think(long me)
{
    if (me == 0)
        invisible_reach(1);
}

static void deposit(struct account *a, long amount, long me)
{
    pthread_mutex_lock(&a->lock);
    long balance = a->balance;
    think(me);
    a->balance = balance + amount;
    pthread_mutex_unlock(&a->lock);
}

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0};

static void *teller(void *arg)
{
    long me = (long)arg;
    invisible_await((int)me);
    deposit(&account, 1, me);
    invisible_reach((int)me + 1);
    return NULL;
}

int main(void)
{
    pthread_t tellers[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    puts("closed");
    return 0;
}
