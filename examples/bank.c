/* Two tellers move money between accounts; each account has its own lock, the audit total has none. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    long balance;
    unsigned transfers;
};

static struct account *accounts;
static int n_accounts = 8;
static long audited; /* every teller adds to it, unlocked */

static void deposit(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance += amount;
    a->transfers++;
    pthread_mutex_unlock(&a->lock);
}

static void *teller(void *seed)
{
    unsigned state = *(unsigned *)seed;
    for (int i = 0; i < 20000; i++) {
        long amount = rand_r(&state) % 100;
        deposit(&accounts[rand_r(&state) % n_accounts], -amount);
        deposit(&accounts[rand_r(&state) % n_accounts], amount);
        audited += amount;
    }
    return NULL;
}

int main(void)
{
    pthread_t tellers[2];
    unsigned seeds[2] = {1, 2};
    accounts = calloc((size_t)n_accounts, sizeof *accounts);
    for (int i = 0; i < n_accounts; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, &seeds[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    long total = 0;
    for (int i = 0; i < n_accounts; i++)
        total += accounts[i].balance;
    printf("money in the bank: %ld\n", total);
    free(accounts);
    return total != 0;
}
