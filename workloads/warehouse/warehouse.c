/* A wholesale company in memory, after SPECjbb2000 (its transactions are TPC-C's).
 *
 * Every terminal has a transaction manager that works on all warehouses of the company: new orders, payments, order
 * status, delivery, stock level. Main leads the company through its modes: RAMP_UP until all managers are at work,
 * RECORDING until each has done its quota, then RAMP_DOWN; and waits until every manager has told that it left its
 * work.
 *
 * Two fields of the company are shared without any synchronisation. mode: main writes it, managers test it to go on,
 * and test it once more to decide whether to wake main up; with an outdated mode nobody wakes main. elapsed_time: the
 * business time spent while recording, in nanoseconds, advanced by the first manager after every transaction and read
 * by main for its statistics while that goes on; 64 bits need not be read in one piece. */
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64
#define DISTRICTS 10
#define CUSTOMERS 30 /* per district */
#define ITEMS 1000
#define LINES_MAX 15   /* of an order */
#define OPEN_ORDERS 64 /* a district holds at most */

#ifdef FIXED
#define SHARED _Atomic
#else
#define SHARED
#endif

static struct {
    int threads, warehouses, quota;
    uint64_t seed;
    bool verbose;
} opt = {.threads = 2, .warehouses = 2, .quota = 100, .seed = 2000};

enum mode { RAMP_UP, RECORDING, RAMP_DOWN };

struct company {
    SHARED enum mode mode;
    SHARED uint64_t elapsed_time;

    pthread_mutex_t lock; /* of the three counts of managers */
    pthread_cond_t changed;
    int at_work, at_quota, gone;

    uint64_t time_at_quota; /* the first manager's, for the check at the end */
};

/* What the terminals hand in when they close. */
struct journal {
    pthread_mutex_t lock;
    long items_ordered, low_stock, debtors;
};

struct order {
    int customer, n_lines;
    long amount;
};

struct district {
    pthread_mutex_t lock;
    struct order open[OPEN_ORDERS]; /* a ring */
    long n_entered, n_delivered;
};

struct customer {
    pthread_mutex_t lock;
    long balance, paid;
};

struct stock {
    int quantity;
    long ordered;
};

struct warehouse {
    struct district districts[DISTRICTS];
    struct customer customers[DISTRICTS][CUSTOMERS];
    pthread_mutex_t stock_lock;
    struct stock stocks[ITEMS];
    pthread_mutex_t cash_lock;
    long cash;
};

struct manager {
    int id;
    uint64_t random;
    struct company *company;
    long recorded, items_ordered, low_stock, debtors;
};

static struct warehouse *warehouses;
static struct journal journal = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int prices[ITEMS]; /* read only after the start */

static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static int pick(struct manager *m, int below)
{
    return (int)(next_random(&m->random) % (unsigned)below);
}

static struct warehouse *pick_warehouse(struct manager *m)
{
    return &warehouses[pick(m, opt.warehouses)];
}

static long take_from_stock(struct manager *m, struct warehouse *w, int n_lines)
{
    long amount = 0;
    pthread_mutex_lock(&w->stock_lock);
    for (int i = 0; i < n_lines; i++) {
        int item = pick(m, ITEMS), count = 1 + pick(m, 10);
        struct stock *s = &w->stocks[item];
        s->quantity += s->quantity >= count + 10 ? -count : 91 - count;
        s->ordered += count;
        amount += (long)count * prices[item];
        m->items_ordered += count;
    }
    pthread_mutex_unlock(&w->stock_lock);
    return amount;
}

static void new_order(struct manager *m)
{
    struct warehouse *w = pick_warehouse(m);
    struct district *d = &w->districts[pick(m, DISTRICTS)];
    struct order o = {.customer = pick(m, CUSTOMERS), .n_lines = 5 + pick(m, LINES_MAX - 4)};
    o.amount = take_from_stock(m, w, o.n_lines);
    pthread_mutex_lock(&d->lock);
    if (d->n_entered - d->n_delivered < OPEN_ORDERS)
        d->open[d->n_entered++ % OPEN_ORDERS] = o;
    pthread_mutex_unlock(&d->lock);
}

static void payment(struct manager *m)
{
    struct warehouse *w = pick_warehouse(m);
    struct customer *c = &w->customers[pick(m, DISTRICTS)][pick(m, CUSTOMERS)];
    long amount = 100 + pick(m, 500000);
    pthread_mutex_lock(&c->lock);
    c->balance -= amount;
    c->paid += amount;
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_lock(&w->cash_lock);
    w->cash += amount;
    pthread_mutex_unlock(&w->cash_lock);
}

static void order_status(struct manager *m)
{
    struct warehouse *w = pick_warehouse(m);
    struct customer *c = &w->customers[pick(m, DISTRICTS)][pick(m, CUSTOMERS)];
    pthread_mutex_lock(&c->lock);
    m->debtors += c->balance > c->paid;
    pthread_mutex_unlock(&c->lock);
}

static bool oldest_order(struct district *d, struct order *o)
{
    pthread_mutex_lock(&d->lock);
    bool found = d->n_delivered < d->n_entered;
    if (found)
        *o = d->open[d->n_delivered++ % OPEN_ORDERS];
    pthread_mutex_unlock(&d->lock);
    return found;
}

static void delivery(struct manager *m)
{
    struct warehouse *w = pick_warehouse(m);
    for (int i = 0; i < DISTRICTS; i++) {
        struct order o;
        if (!oldest_order(&w->districts[i], &o))
            continue;
        struct customer *c = &w->customers[i][o.customer];
        pthread_mutex_lock(&c->lock);
        c->balance += o.amount;
        pthread_mutex_unlock(&c->lock);
    }
}

static void stock_level(struct manager *m)
{
    struct warehouse *w = pick_warehouse(m);
    int first = pick(m, ITEMS - 200);
    pthread_mutex_lock(&w->stock_lock);
    for (int item = first; item < first + 200; item++)
        m->low_stock += w->stocks[item].quantity < 15;
    pthread_mutex_unlock(&w->stock_lock);
}

/* One transaction of the usual mix; returns the business time it took, in nanoseconds. */
static uint64_t transact(struct manager *m)
{
    static const struct {
        void (*run)(struct manager *);
        int share, seconds;
    } mix[] = {{new_order, 10, 18}, {payment, 10, 3}, {order_status, 1, 2}, {delivery, 1, 60}, {stock_level, 1, 5}};
    int dice = pick(m, 23), kind = 0;
    for (; dice >= mix[kind].share; kind++)
        dice -= mix[kind].share;
    mix[kind].run(m);
    return ((uint64_t)mix[kind].seconds + 5) * 1000000000u + (uint64_t)pick(m, 1000000000);
}

static void report(struct company *c, int *count)
{
    pthread_mutex_lock(&c->lock);
    ++*count;
    pthread_cond_signal(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

static void wait_for_all(struct company *c, const int *count)
{
    pthread_mutex_lock(&c->lock);
    while (*count < opt.threads)
        pthread_cond_wait(&c->changed, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

static void record_transaction(struct company *c, struct manager *m)
{
    uint64_t duration = transact(m);
    if (m->id == 0)
        c->elapsed_time += duration;
    if (++m->recorded != opt.quota)
        return;
    if (m->id == 0)
        c->time_at_quota = c->elapsed_time;
    report(c, &c->at_quota);
}

static void close_terminal(const struct manager *m)
{
    pthread_mutex_lock(&journal.lock);
    journal.items_ordered += m->items_ordered;
    journal.low_stock += m->low_stock;
    journal.debtors += m->debtors;
    pthread_mutex_unlock(&journal.lock);
}

static void *transaction_manager(void *arg)
{
    struct manager *m = arg;
    struct company *c = m->company;
    report(c, &c->at_work);
    while (c->mode == RAMP_UP)
        transact(m);
    while (c->mode == RECORDING)
        record_transaction(c, m);
    close_terminal(m);
    if (c->mode == RAMP_DOWN)
        report(c, &c->gone);
    return NULL;
}

/* Leads the company through its modes; returns the business time that main saw while managers still recorded. */
static uint64_t lead_through_modes(struct company *c)
{
    wait_for_all(c, &c->at_work);
    c->mode = RECORDING;
    wait_for_all(c, &c->at_quota);
    uint64_t seen = c->elapsed_time;
    c->mode = RAMP_DOWN;
    wait_for_all(c, &c->gone);
    return seen;
}

static void open_warehouse(struct warehouse *w)
{
    for (int i = 0; i < DISTRICTS; i++) {
        pthread_mutex_init(&w->districts[i].lock, NULL);
        for (int k = 0; k < CUSTOMERS; k++)
            pthread_mutex_init(&w->customers[i][k].lock, NULL);
    }
    pthread_mutex_init(&w->stock_lock, NULL);
    pthread_mutex_init(&w->cash_lock, NULL);
    for (int item = 0; item < ITEMS; item++)
        w->stocks[item].quantity = 10 + item % 91;
}

static void open_company(struct company *c)
{
    uint64_t state = opt.seed;
    *c = (struct company){.mode = RAMP_UP};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    for (int item = 0; item < ITEMS; item++)
        prices[item] = 1 + (int)(next_random(&state) % 10000);
    warehouses = calloc((size_t)opt.warehouses, sizeof *warehouses);
    for (int i = 0; i < opt.warehouses; i++)
        open_warehouse(&warehouses[i]);
}

/* What came in must be in the tills, and what was ordered gone from stock. */
static const char *audit(void)
{
    long ordered = 0;
    for (int i = 0; i < opt.warehouses; i++) {
        const struct warehouse *w = &warehouses[i];
        long paid = 0;
        for (int k = 0; k < DISTRICTS * CUSTOMERS; k++)
            paid += w->customers[k / CUSTOMERS][k % CUSTOMERS].paid;
        if (paid != w->cash)
            return "a till does not hold what the customers paid";
        for (int item = 0; item < ITEMS; item++)
            ordered += w->stocks[item].ordered;
    }
    return ordered == journal.items_ordered ? NULL : "stock and orders do not match";
}

static const char *run_company(struct company *c)
{
    struct manager *managers = calloc((size_t)opt.threads, sizeof *managers);
    pthread_t threads[MAX_THREADS];
    for (int id = 0; id < opt.threads; id++) {
        managers[id] = (struct manager){id, opt.seed + 0x9e3779b97f4a7c15u * (uint64_t)(id + 1), c, 0, 0, 0, 0};
        pthread_create(&threads[id], NULL, transaction_manager, &managers[id]);
    }
    uint64_t seen = lead_through_modes(c);
    for (int id = 0; id < opt.threads; id++)
        pthread_join(threads[id], NULL);
    if (opt.verbose)
        fprintf(stderr, "%.1f transactions per business hour, %ld debtors\n", opt.quota * 3600e9 / (double)seen,
                journal.debtors);
    free(managers);
    if (seen < c->time_at_quota || seen > c->elapsed_time)
        return "the elapsed time is corrupt";
    return audit();
}

static int number(const char *text, int low, int high)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value < low || value > high) {
        fprintf(stderr, "warehouse: '%s' is not a number from %d to %d\n", text, low, high);
        exit(2);
    }
    return (int)value;
}

static void usage(FILE *to)
{
    fputs("usage: warehouse [-t terminals] [-w warehouses] [-n transactions per terminal] [-s seed] [-v]\n", to);
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:w:n:s:vh")) != -1;) {
        if (c == 't')
            opt.threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'w')
            opt.warehouses = number(optarg, 1, 1000);
        else if (c == 'n')
            opt.quota = number(optarg, 1, 100000000);
        else if (c == 's')
            opt.seed = (uint64_t)number(optarg, 0, INT32_MAX);
        else if (c == 'v')
            opt.verbose = true;
        else {
            usage(c == 'h' ? stdout : stderr);
            exit(c == 'h' ? 0 : 2);
        }
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    struct company *company = malloc(sizeof *company);
    open_company(company);
    const char *why = run_company(company);
    if (why)
        printf("FAILED: %s\n", why);
    else
        puts("ok");
    free(warehouses);
    free(company);
    return why != NULL;
}
