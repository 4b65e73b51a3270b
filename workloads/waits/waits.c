/* The waits of von Praun, chapter 6, one small program for each, chosen by --variant.
 *   critical    a thread waits for a condition while it holds another lock that the notifier needs
 *   indefinite  a thread waits for a condition that nobody ever signals
 *   mutual      two locks are taken in opposite orders
 *   aliased     the same between locks of one allocation site, which the thesis cannot tell apart (6.4.1)
 *   reentrance  a lock is taken again by its holder, below another lock: no cycle (6.2.1)
 *   two-phase   opposite orders, but with a barrier between them: no deadlock (6.4.2)
 * A deadlock shows as a hang; a run that ends checks its result. */
#define _GNU_SOURCE /* the static initialiser of a recursive mutex */
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 64

static int threads = 2;
static long size = 1000;

struct worker {
    pthread_t thread;
    int number;
};

static void start(struct worker *w, int number, void *(*role)(void *))
{
    w->number = number;
    if (pthread_create(&w->thread, NULL, role, w))
        exit(2);
}

static void start_all(struct worker *crew, int count, void *(*role)(void *))
{
    for (int i = 0; i < count; i++)
        start(&crew[i], i, role);
}

static void join_all(struct worker *crew, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(crew[i].thread, NULL);
}

/* ---- critical: the printer waits for jobs with the device locked, and clients load paper before their first job ----
 */

static pthread_mutex_t device = PTHREAD_MUTEX_INITIALIZER; /* protects paper and pages */
static long paper, pages;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t nonempty;
    long jobs;
} spool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void *client_run(void *arg)
{
    pthread_mutex_lock(&device);
    paper += size;
    pthread_mutex_unlock(&device);
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&spool.lock);
        spool.jobs++;
        pthread_cond_signal(&spool.nonempty);
        pthread_mutex_unlock(&spool.lock);
    }
    return arg;
}

static void take_job(void)
{
    pthread_mutex_lock(&spool.lock);
    while (spool.jobs == 0)
        pthread_cond_wait(&spool.nonempty, &spool.lock);
    spool.jobs--;
    pthread_mutex_unlock(&spool.lock);
}

static void *printer_run(void *arg)
{
    for (long left = size * (threads - 1); left > 0; left--) {
#ifdef FIXED
        take_job();
        pthread_mutex_lock(&device);
#else
        pthread_mutex_lock(&device);
        take_job();
#endif
        paper--;
        pages++;
        pthread_mutex_unlock(&device);
    }
    return arg;
}

static bool critical(void)
{
    struct worker crew[MAX_THREADS];
    start_all(crew, threads - 1, client_run);
    start(&crew[threads - 1], threads - 1, printer_run);
    join_all(crew, threads);
    return paper == 0 && pages == size * (threads - 1);
}

/* ---- indefinite: the submitter helps to empty the pool, then waits for `idle`, which workers forget to signal ---- */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t available, idle;
    long queued, busy, done, sum;
    bool closed;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .available = PTHREAD_COND_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER};

static long digits_of(long item)
{
    long sum = 0;
    for (; item; item /= 10)
        sum += item % 10;
    return sum;
}

/* Entered and left with the pool locked. */
static void pool_work_one(void)
{
    long item = pool.queued--;
    pool.busy++;
    pthread_mutex_unlock(&pool.lock);
    long sum = digits_of(item);
    pthread_mutex_lock(&pool.lock);
    pool.sum += sum;
    pool.done++;
    pool.busy--;
#ifdef FIXED
    if (pool.busy == 0)
        pthread_cond_signal(&pool.idle);
#endif
}

static void *pool_worker_run(void *arg)
{
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.queued == 0 && !pool.closed)
            pthread_cond_wait(&pool.available, &pool.lock);
        if (pool.queued == 0)
            break;
        pool_work_one();
    }
    pthread_mutex_unlock(&pool.lock);
    return arg;
}

static void pool_submit(void)
{
    pthread_mutex_lock(&pool.lock);
    pool.queued++;
    pthread_cond_signal(&pool.available);
    pthread_mutex_unlock(&pool.lock);
}

static long pool_flush(void)
{
    pthread_mutex_lock(&pool.lock);
    while (pool.queued > 0)
        pool_work_one();
    while (pool.busy > 0)
        pthread_cond_wait(&pool.idle, &pool.lock);
    long done = pool.done;
    pool.closed = true;
    pthread_cond_broadcast(&pool.available);
    pthread_mutex_unlock(&pool.lock);
    return done;
}

static bool indefinite(void)
{
    struct worker crew[MAX_THREADS];
    start_all(crew, threads - 1, pool_worker_run);
    for (long i = 0; i < size; i++)
        pool_submit();
    long done = pool_flush();
    join_all(crew, threads - 1);
    return done == size && (size == 0 || pool.sum > 0);
}

/* ---- mutual: clerks move money from checking to savings; the first one makes one refund at the end of the day ---- */

static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER, savings = PTHREAD_MUTEX_INITIALIZER;
static long checking_money, savings_money;

static void save(long amount)
{
    pthread_mutex_lock(&checking);
    pthread_mutex_lock(&savings);
    checking_money -= amount;
    savings_money += amount;
    pthread_mutex_unlock(&savings);
    pthread_mutex_unlock(&checking);
}

static void refund(long amount)
{
#ifdef FIXED
    pthread_mutex_lock(&checking);
    pthread_mutex_lock(&savings);
#else
    pthread_mutex_lock(&savings);
    pthread_mutex_lock(&checking);
#endif
    savings_money -= amount;
    checking_money += amount;
    pthread_mutex_unlock(&checking);
    pthread_mutex_unlock(&savings);
}

static void *clerk_run(void *arg)
{
    struct worker *me = arg;
    for (long i = 0; i < size; i++)
        save(1);
    if (me->number == 0)
        refund(5);
    return NULL;
}

static bool mutual(void)
{
    struct worker crew[MAX_THREADS];
    start_all(crew, threads, clerk_run);
    join_all(crew, threads);
    return savings_money == size * threads - 5 && checking_money == -savings_money;
}

/* ---- aliased: the same with accounts made by one loop ---- */

#define ACCOUNTS 8

struct account {
    pthread_mutex_t lock;
    long money;
};

static struct account *accounts[ACCOUNTS];

static void transfer(int from, int to, long amount)
{
    struct account *first = accounts[from], *second = accounts[to];
#ifdef FIXED
    if (from > to)
        first = accounts[to], second = accounts[from];
#endif
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    accounts[from]->money -= amount;
    accounts[to]->money += amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void *teller_run(void *arg)
{
    struct worker *me = arg;
    for (long i = 0; i < size; i++)
        transfer((int)(i % (ACCOUNTS - 1)), ACCOUNTS - 1, 1);
    if (me->number == 0)
        transfer(ACCOUNTS - 1, 0, 5);
    return NULL;
}

static bool aliased(void)
{
    struct worker crew[MAX_THREADS];
    long sum = 0, last;
    for (int a = 0; a < ACCOUNTS; a++) {
        accounts[a] = calloc(1, sizeof *accounts[a]);
        if (!accounts[a])
            exit(2);
        pthread_mutex_init(&accounts[a]->lock, NULL);
    }
    start_all(crew, threads, teller_run);
    join_all(crew, threads);
    last = accounts[ACCOUNTS - 1]->money;
    for (int a = 0; a < ACCOUNTS; a++) {
        sum += accounts[a]->money;
        pthread_mutex_destroy(&accounts[a]->lock);
        free(accounts[a]);
    }
    return sum == 0 && last == size * threads - 5;
}

/* ---- reentrance: the vault notes what it does in the ledger, whose lock the cashier already holds ---- */

static pthread_mutex_t ledger = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t vault = PTHREAD_MUTEX_INITIALIZER;
static long ledger_lines, vault_money;

static void ledger_note(void)
{
    pthread_mutex_lock(&ledger);
    ledger_lines++;
    pthread_mutex_unlock(&ledger);
}

static void vault_add(long amount)
{
    pthread_mutex_lock(&vault);
    vault_money += amount;
    ledger_note();
    pthread_mutex_unlock(&vault);
}

static void *cashier_run(void *arg)
{
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&ledger);
        vault_add(3);
        pthread_mutex_unlock(&ledger);
    }
    return arg;
}

static bool reentrance(void)
{
    struct worker crew[MAX_THREADS];
    start_all(crew, threads, cashier_run);
    join_all(crew, threads);
    return ledger_lines == size * threads && vault_money == 3 * ledger_lines;
}

/* ---- two-phase: everybody fills the right hall from the left one, waits for the others, and goes back ---- */

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t interval;
static long left_guests, right_guests;

static void *usher_run(void *arg)
{
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&left);
        pthread_mutex_lock(&right);
        left_guests--, right_guests++;
        pthread_mutex_unlock(&right);
        pthread_mutex_unlock(&left);
    }
    pthread_barrier_wait(&interval);
    for (long i = 0; i < size; i++) {
        pthread_mutex_lock(&right);
        pthread_mutex_lock(&left);
        right_guests--, left_guests++;
        pthread_mutex_unlock(&left);
        pthread_mutex_unlock(&right);
    }
    return arg;
}

static bool two_phase(void)
{
    struct worker crew[MAX_THREADS];
    pthread_barrier_init(&interval, NULL, (unsigned)threads);
    start_all(crew, threads, usher_run);
    join_all(crew, threads);
    pthread_barrier_destroy(&interval);
    return left_guests == 0 && right_guests == 0;
}

/* ---- */

static const struct variant {
    const char *name;
    bool (*run)(void);
} variants[] = {
    {"critical", critical}, {"indefinite", indefinite}, {"mutual", mutual},
    {"aliased", aliased},   {"reentrance", reentrance}, {"two-phase", two_phase},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static const struct variant *find_variant(const char *name)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (!strcmp(variants[i].name, name))
            return &variants[i];
    return NULL;
}

static int usage(int status)
{
    printf("usage: waits --variant=NAME [-t threads (2..%d)] [-n size]\nvariants:", MAX_THREADS);
    for (size_t i = 0; i < VARIANTS; i++)
        printf(" %s", variants[i].name);
    printf("\n");
    return status;
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {{"variant", required_argument, NULL, 'v'}, {0}};
    const struct variant *variant = &variants[0];
    int option;
    while ((option = getopt_long(argc, argv, "t:n:h", long_options, NULL)) != -1) {
        if (option == 't')
            threads = atoi(optarg);
        else if (option == 'n')
            size = atol(optarg);
        else if (option == 'v')
            variant = find_variant(optarg);
        else
            return usage(option == 'h' ? 0 : 2);
    }
    if (!variant || threads < 2 || threads > MAX_THREADS || size < 0)
        return usage(2);
    bool right_result = variant->run();
    printf("%s\n", right_result ? "ok" : "FAILED: the sums do not agree");
    return !right_result;
}
