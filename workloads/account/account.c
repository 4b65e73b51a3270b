/* A bank with account objects after von Praun, Programs 2.3, 5.1 and 5.2.
 * Every access to a balance is made under the account's lock, so there is no data race. But account_update reads the
 * balance in one critical section and writes it in another: a booking made by another teller in between is lost.
 * The tellers post a fixed stream of bookings; the closing balances are compared with the same bookings posted by one.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_TELLERS 64
#define ACCOUNTS 16

struct account {
    pthread_mutex_t lock; /* recursive, as a Java monitor is */
    long balance;
};

struct teller {
    pthread_t thread;
    unsigned number;
    long bookings;
};

static struct account *bank[ACCOUNTS];

static struct account *account_new(void)
{
    struct account *acc = malloc(sizeof *acc);
    if (!acc)
        exit(2);
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&acc->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    acc->balance = 0;
    return acc;
}

static void account_free(struct account *acc)
{
    pthread_mutex_destroy(&acc->lock);
    free(acc);
}

static long account_read(struct account *acc)
{
    pthread_mutex_lock(&acc->lock);
    long seen = acc->balance;
    pthread_mutex_unlock(&acc->lock);
    return seen;
}

static void account_update(struct account *acc, long amount)
{
#ifdef FIXED
    pthread_mutex_lock(&acc->lock); /* Program 5.2: read re-enters the lock that update holds */
    long seen = account_read(acc);
#else
    long seen = account_read(acc);
    pthread_mutex_lock(&acc->lock);
#endif
    acc->balance = seen + amount;
    pthread_mutex_unlock(&acc->lock);
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Booking i of a teller: which account, and how much. */
static long booking(unsigned *state, unsigned *account)
{
    *account = next_random(state) % ACCOUNTS;
    return (long)(next_random(state) % 2000) - 800;
}

static void *teller_run(void *arg)
{
    struct teller *me = arg;
    unsigned state = me->number + 1, account;
    for (long i = 0; i < me->bookings; i++) {
        long amount = booking(&state, &account);
        account_update(bank[account], amount);
    }
    return NULL;
}

static void expected_balances(long *expected, int tellers, long bookings)
{
    for (int t = 0; t < tellers; t++) {
        unsigned state = (unsigned)t + 1, account;
        for (long i = 0; i < bookings; i++) {
            long amount = booking(&state, &account);
            expected[account] += amount;
        }
    }
}

static int check(int tellers, long bookings)
{
    long expected[ACCOUNTS] = {0};
    expected_balances(expected, tellers, bookings);
    for (int a = 0; a < ACCOUNTS; a++) {
        long closing = account_read(bank[a]);
        if (closing != expected[a]) {
            printf("FAILED: account %d closes with %ld, its bookings sum to %ld\n", a, closing, expected[a]);
            return 1;
        }
    }
    printf("ok\n");
    return 0;
}

static void open_the_bank(int tellers, long bookings)
{
    struct teller staff[MAX_TELLERS];
    for (int a = 0; a < ACCOUNTS; a++)
        bank[a] = account_new();
    for (int t = 0; t < tellers; t++) {
        staff[t].number = (unsigned)t;
        staff[t].bookings = bookings;
        if (pthread_create(&staff[t].thread, NULL, teller_run, &staff[t]))
            exit(2);
    }
    for (int t = 0; t < tellers; t++)
        pthread_join(staff[t].thread, NULL);
}

int main(int argc, char **argv)
{
    int tellers = 2, option;
    long bookings = 1000;
    while ((option = getopt(argc, argv, "t:n:h")) != -1) {
        if (option == 't')
            tellers = atoi(optarg);
        else if (option == 'n')
            bookings = atol(optarg);
        else {
            printf("usage: account [-t tellers (1..%d)] [-n bookings per teller]\n", MAX_TELLERS);
            return option == 'h' ? 0 : 2;
        }
    }
    if (tellers < 1 || tellers > MAX_TELLERS || bookings < 0)
        return fprintf(stderr, "account: bad number of tellers or bookings\n"), 2;
    open_the_bank(tellers, bookings);
    int status = check(tellers, bookings);
    for (int a = 0; a < ACCOUNTS; a++)
        account_free(bank[a]);
    return status;
}
