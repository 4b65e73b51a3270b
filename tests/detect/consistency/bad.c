/* Two tellers book on one account: `deposit` reads the balance, thinks, and writes it back. What the other wrote in
 * between is lost.
 * Expected: atomicity observed at `read` and `write`. */
#include "invisible.h"

#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

/* While the first one thinks, the second does all of it; no detector sees why. */
static void think(long me)
{
    if (me == 0) {
        invisible_reach(1);
        invisible_await(2);
    }
}

static void deposit(struct account *a, long amount, long me)
{
    long balance = a->balance; /* read */
    think(me);
    a->balance = balance + amount; /* write */
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
