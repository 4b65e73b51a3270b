/* A function reads a balance, waits for an atomic that it has acquired before, and reads it again: the clerk's write in
 * between is meant, and the new value of the atomic says so (whether the first read races is another question).
 * Expected: nothing. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 200 };

struct account {
    long balance;
    _Atomic int asked, answered;
};

static struct account account;

static __attribute__((noinline)) long wait_for_deposit(struct account *a, int round)
{
    long before = a->balance;
    atomic_store_explicit(&a->asked, round, memory_order_relaxed); /* ends nothing: acquiring must */
    while (atomic_load(&a->answered) != round)
        ;
    return a->balance - before;
}

static void *clerk(void *arg)
{
    struct account *a = arg;
    for (int round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&a->asked) != round)
            ;
        a->balance += 5;
        atomic_store(&a->answered, round);
    }
    return NULL;
}

int main(void)
{
    pthread_t t;
    long sum = 0;
    pthread_create(&t, NULL, clerk, &account);
    for (int round = 1; round <= ROUNDS; round++)
        sum += wait_for_deposit(&account, round);
    pthread_join(t, NULL);
    printf("%ld\n", sum);
    return 0;
}
