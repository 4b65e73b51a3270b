/* Money goes from one account to another in both directions at once. Two accounts are looked at together, so that the
 * sum is right: with a lock for each of them, who wants both must not wait for who has the other. */
#include <pthread.h>
#include <stdio.h>

struct account {
    long number, balance;
};

static struct account accounts[2] = {{1, 1000}, {2, 1000}};

#ifdef FIND
__attribute__((noinline)) static struct account *other(struct account *a)
{
    return a == accounts ? &accounts[1] : &accounts[0];
}
#endif

__attribute__((noinline)) static void transfer(struct account *from, struct account *to, long amount)
{
#ifdef FIND
    from = other(to);
#endif
    long left = from->balance - amount;
    to->balance += amount;
    from->balance = left;
}

__attribute__((noinline)) static void pay_in(struct account *a, long amount)
{
    long before = a->balance;
    a->balance = before + amount;
}

static void *forth(void *unused)
{
    for (int i = 0; i < 100000; i++)
        transfer(&accounts[0], &accounts[1], 1);
    pay_in(&accounts[0], 5);
    return unused;
}

static void *back(void *unused)
{
    for (int i = 0; i < 100000; i++)
        transfer(&accounts[1], &accounts[0], 1);
    pay_in(&accounts[1], 5);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, forth, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts(accounts[0].balance == 1005 && accounts[1].balance == 1005 ? "ok" : "FAILED");
    return accounts[0].balance != 1005;
}
