/* The saver writes the balance under the account's lock, the spender under another one. */
#include "order.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account *account;
static struct {
    int used;
    pthread_mutex_t lock;
} desks[3];

static inline void deposit(struct account *a, int amount)
{
    a->balance += amount;
}

static void *saver(void *arg)
{
    pthread_setname_np(pthread_self(), "saver");
    pthread_mutex_lock(&account->lock);
    deposit(account, 5);
    pthread_mutex_unlock(&account->lock);
    step_done(0);
    return arg;
}

static void *spender(void *arg)
{
    pthread_setname_np(pthread_self(), "spender");
    wait_step(0);
    pthread_mutex_lock(&desks[1].lock);
    account->balance = -3;
    pthread_mutex_unlock(&desks[1].lock);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    pthread_create(&a, NULL, saver, NULL);
    pthread_create(&b, NULL, spender, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("balance %d\n", account->balance);
    free(account);
    return 3;
}
