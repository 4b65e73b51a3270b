/* Two tellers book deposits and move money between two accounts that they both serve. Three things are wrong with it:
 * the day's total is added up without a lock, so is a statistic that nobody needs, and transfers lock the accounts in
 * the order in which they are named. */
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

static struct account giro = {PTHREAD_MUTEX_INITIALIZER, 1000}, savings = {PTHREAD_MUTEX_INITIALIZER, 1000};
static long total;     /* what was paid in today: every teller adds to it */
static unsigned asked; /* how often anybody was asked for anything */

static void transfer(struct account *from, struct account *to, long amount)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void deposit(struct account *to, long amount)
{
    pthread_mutex_lock(&to->lock);
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    total += amount;
}

static void *first_teller(void *unused)
{
    asked++;
    deposit(&giro, 100);
    transfer(&giro, &savings, 50);
    return unused;
}

static void *second_teller(void *unused)
{
    asked++;
    deposit(&savings, 200);
    transfer(&savings, &giro, 20);
    return unused;
}

int main(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, first_teller, NULL);
    pthread_create(&second, NULL, second_teller, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    printf("in the bank: %ld, paid in today: %ld\n", giro.balance + savings.balance, total);
    return giro.balance + savings.balance != 2000 + total;
}
