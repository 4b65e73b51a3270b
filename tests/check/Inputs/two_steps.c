/* What is taken out is tested and taken in two sections: that matters. What was done last is noted in two sections as
 * well, and nobody relies on it. */
#include <pthread.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    long balance;
} account = {PTHREAD_MUTEX_INITIALIZER, 100};

static struct {
    pthread_mutex_t lock;
    long looks;
} seen = {PTHREAD_MUTEX_INITIALIZER, 0};

static void note(void)
{
    pthread_mutex_lock(&seen.lock);
    long looks = seen.looks;
    pthread_mutex_unlock(&seen.lock);
    pthread_mutex_lock(&seen.lock);
    seen.looks = looks + 1;
    pthread_mutex_unlock(&seen.lock);
}

static void withdraw(long amount)
{
    pthread_mutex_lock(&account.lock);
    long balance = account.balance;
    pthread_mutex_unlock(&account.lock);
    if (balance < amount)
        return;
    pthread_mutex_lock(&account.lock);
    account.balance -= amount;
    pthread_mutex_unlock(&account.lock);
}

static void *customer(void *arg)
{
    (void)arg;
    for (int i = 0; i < 2; i++) {
        note();
        withdraw(60);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, customer, NULL);
    pthread_create(&b, NULL, customer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("balance %ld\n", account.balance);
    return account.balance < 0;
}
