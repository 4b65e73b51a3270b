/* Two tellers book on one account. Reading and writing the balance are locked, and update() holds the recursive lock
 * over both.
 * Expected: nothing */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account account = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static long read_balance(struct account *a)
{
    pthread_mutex_lock(&a->lock);
    long seen = a->balance;
    pthread_mutex_unlock(&a->lock);
    return seen;
}

static void update(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    long seen = read_balance(a);
    a->balance = seen + amount;
    pthread_mutex_unlock(&a->lock);
}

static void *teller(void *arg)
{
    for (long i = 0; i < 100; i++)
        update(&account, i);
    return arg;
}

int main(void)
{
    pthread_t tellers[2];
    for (int t = 0; t < 2; t++)
        pthread_create(&tellers[t], NULL, teller, NULL);
    for (int t = 0; t < 2; t++)
        pthread_join(tellers[t], NULL);
    printf("%d\n", account.balance > 0);
    return 0;
}
