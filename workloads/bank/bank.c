/* A bank: tellers move money between accounts and pay interest, all under the accounts' own locks. At the end of every
 * business day each teller adds what it paid to the bank's total, with no lock at all: `bank_total += sum`.
 * Two tellers that close the day at the same moment lose one of the sums. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct account {
    pthread_mutex_t lock;
    long balance;
};

struct teller {
    pthread_t thread;
    unsigned seed;
};

static struct account *accounts;
static int n_accounts = 16;
static int n_tellers = 2;
static int days = 10;
static int customers = 200; /* a day, for each teller */
static long bank_total;
#ifdef FIXED
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void deposit(struct account *a, long amount)
{
    pthread_mutex_lock(&a->lock);
    a->balance += amount;
    pthread_mutex_unlock(&a->lock);
}

static struct account *some_account(struct teller *t)
{
    return &accounts[next_random(&t->seed) % (unsigned)n_accounts];
}

/* Returns the interest paid; transfers leave the bank's total as it is. */
static long serve_customer(struct teller *t)
{
    long amount = next_random(&t->seed) % 1000, interest = next_random(&t->seed) % 10;
    deposit(some_account(t), -amount);
    deposit(some_account(t), amount);
    deposit(some_account(t), interest);
    return interest;
}

static void close_day(long sum)
{
#ifdef FIXED
    pthread_mutex_lock(&total_lock);
#endif
    bank_total += sum;
#ifdef FIXED
    pthread_mutex_unlock(&total_lock);
#endif
}

static void *teller(void *arg)
{
    struct teller *t = arg;
    for (int day = 0; day < days; day++) {
        long sum = 0;
        for (int i = 0; i < customers; i++)
            sum += serve_customer(t);
        close_day(sum);
    }
    return NULL;
}

static int check(void)
{
    long money = 0;
    for (int i = 0; i < n_accounts; i++)
        money += accounts[i].balance;
    if (money != bank_total) {
        printf("FAILED: the accounts hold %ld, the books say %ld\n", money, bank_total);
        return 1;
    }
    puts("ok");
    return 0;
}

static int usage(const char *prog, int code)
{
    fprintf(code ? stderr : stdout, "usage: %s [-t tellers] [-a accounts] [-d days] [-n customers a day]\n", prog);
    return code;
}

int main(int argc, char **argv)
{
    int c;
    while ((c = getopt(argc, argv, "t:a:d:n:h")) != -1) {
        if (c == 't')
            n_tellers = atoi(optarg);
        else if (c == 'a')
            n_accounts = atoi(optarg);
        else if (c == 'd')
            days = atoi(optarg);
        else if (c == 'n')
            customers = atoi(optarg);
        else
            return usage(argv[0], c == 'h' ? 0 : 2);
    }
    if (n_tellers < 1 || n_accounts < 1)
        return usage(argv[0], 2);

    struct teller *tellers = calloc((size_t)n_tellers, sizeof *tellers);
    accounts = calloc((size_t)n_accounts, sizeof *accounts);
    for (int i = 0; i < n_accounts; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    for (int i = 0; i < n_tellers; i++) {
        tellers[i].seed = 1u + (unsigned)i;
        pthread_create(&tellers[i].thread, NULL, teller, &tellers[i]);
    }
    for (int i = 0; i < n_tellers; i++)
        pthread_join(tellers[i].thread, NULL);
    int result = check();
    free(tellers);
    free(accounts);
    return result;
}
