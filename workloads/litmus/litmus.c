/* C11 litmus tests, right and broken ones side by side, chosen by --variant.
 * Every test runs over a row of cells, each cell being one execution of the test by fresh memory. The plain accesses
 * are the same in all variants of a test; only the atomic operations around them differ, and the table at the end
 * says which. In the twin each broken operation is replaced by the right one.
 *   mp       message passing: plain data, then a flag
 *   sb       store buffering as a door: raise my flag, enter if the other's is down; at most one may be inside
 *   seqlock  a pair of numbers read without a lock and read again if the sequence changed
 *   spinlock a lock around a plain counter
 *   rcu      a configuration replaced by pointer, the old one reused after all readers were seen elsewhere */
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIXED
#define BROKEN(wrong, right) right
#else
#define BROKEN(wrong, right) wrong
#endif

#define MAX_THREADS 16
#define RELAXED memory_order_relaxed
#define ACQUIRE memory_order_acquire
#define RELEASE memory_order_release
#define SEQ_CST memory_order_seq_cst

static int threads = 2;

static void yield_sometimes(int spins)
{
    if (spins % 100 == 99)
        sched_yield();
}

/* Threads of a test try to come to a cell together, but on a busy machine nobody waits long. Relaxed: the meeting must
 * not order what the test leaves unordered. */
static void meet(atomic_int *present, int expected)
{
    atomic_fetch_add_explicit(present, 1, RELAXED);
    for (int spins = 0; spins < 500 && atomic_load_explicit(present, RELAXED) < expected; spins++)
        ;
}

/* ---- mp: message passing ---- */

struct mp_cell {
    int data;
    atomic_int flag;
    atomic_int wrong;
};

struct mp_ops {
    void (*publish)(struct mp_cell *);
    bool (*arrived)(struct mp_cell *);
};

static void publish_release(struct mp_cell *c)
{
    atomic_store_explicit(&c->flag, 1, RELEASE);
}

static bool arrived_acquire(struct mp_cell *c)
{
    return atomic_load_explicit(&c->flag, ACQUIRE);
}

static void publish_seq_cst(struct mp_cell *c)
{
    atomic_store(&c->flag, 1);
}

static bool arrived_seq_cst(struct mp_cell *c)
{
    return atomic_load(&c->flag);
}

static void publish_fence(struct mp_cell *c)
{
    atomic_thread_fence(RELEASE);
    atomic_store_explicit(&c->flag, 1, RELAXED);
}

static bool arrived_fence(struct mp_cell *c)
{
    bool arrived = atomic_load_explicit(&c->flag, RELAXED);
    atomic_thread_fence(ACQUIRE);
    return arrived;
}

static void publish_weak(struct mp_cell *c)
{
    atomic_store_explicit(&c->flag, 1, BROKEN(RELAXED, RELEASE));
}

static bool arrived_weak(struct mp_cell *c)
{
    return atomic_load_explicit(&c->flag, BROKEN(RELAXED, ACQUIRE));
}

static void mp_writer(const void *ops, void *cell, int thread)
{
    const struct mp_ops *o = ops;
    struct mp_cell *c = cell;
    (void)thread;
    c->data = 42;
    o->publish(c);
}

static void mp_reader(const void *ops, void *cell, int thread)
{
    const struct mp_ops *o = ops;
    struct mp_cell *c = cell;
    (void)thread;
    for (int spins = 0; !o->arrived(c); spins++)
        yield_sometimes(spins);
    if (c->data != 42)
        atomic_fetch_add(&c->wrong, 1);
}

static bool mp_right(const void *cell)
{
    const struct mp_cell *c = cell;
    return c->data == 42 && c->wrong == 0;
}

/* ---- sb: store buffering ---- */

struct sb_cell {
    _Alignas(64) atomic_int flag[2];
    _Alignas(64) atomic_int present;
    int inside; /* plain: only the one behind the door may touch it */
    bool entered[2];
};

struct sb_ops {
    bool (*enter[2])(struct sb_cell *, int me); /* one for each thread */
};

static bool enter_seq_cst(struct sb_cell *c, int me)
{
    atomic_store(&c->flag[me], 1);
    return !atomic_load(&c->flag[1 - me]);
}

static bool enter_fence(struct sb_cell *c, int me)
{
    atomic_store_explicit(&c->flag[me], 1, RELAXED);
    atomic_thread_fence(SEQ_CST);
    return !atomic_load_explicit(&c->flag[1 - me], RELAXED);
}

static bool enter_relaxed(struct sb_cell *c, int me)
{
    atomic_store_explicit(&c->flag[me], 1, BROKEN(RELAXED, SEQ_CST));
    return !atomic_load_explicit(&c->flag[1 - me], BROKEN(RELAXED, SEQ_CST));
}

static bool enter_acq_rel(struct sb_cell *c, int me)
{
    atomic_store_explicit(&c->flag[me], 1, BROKEN(RELEASE, SEQ_CST));
    return !atomic_load_explicit(&c->flag[1 - me], BROKEN(ACQUIRE, SEQ_CST));
}

static bool enter_forgotten_fence(struct sb_cell *c, int me)
{
    atomic_store_explicit(&c->flag[me], 1, RELAXED);
    atomic_thread_fence(BROKEN(RELEASE, SEQ_CST));
    return !atomic_load_explicit(&c->flag[1 - me], RELAXED);
}

static void sb_visitor(const void *ops, void *cell, int thread)
{
    const struct sb_ops *o = ops;
    struct sb_cell *c = cell;
    meet(&c->present, 2);
    if (o->enter[thread](c, thread)) {
        c->inside++;
        c->entered[thread] = true;
    }
}

static bool sb_right(const void *cell)
{
    const struct sb_cell *c = cell;
    return !(c->entered[0] && c->entered[1]) && c->inside <= 1;
}

/* ---- seqlock ---- */

#define WRITES 4 /* per cell */

struct seq_cell {
    atomic_int present;
    atomic_uint sequence;
    atomic_uint low, high;                   /* high is always the complement of low */
    BROKEN(unsigned, atomic_uint) plain_low; /* the same pair for the variants with plain data */
    BROKEN(unsigned, atomic_uint) plain_high;
    atomic_uint wrong;
};

struct seq_ops {
    void (*write)(struct seq_cell *, unsigned);
    bool (*read)(struct seq_cell *, unsigned *low, unsigned *high); /* false: try again */
};

static void begin_write(struct seq_cell *c)
{
    atomic_store_explicit(&c->sequence, atomic_load_explicit(&c->sequence, RELAXED) + 1, RELAXED);
    atomic_thread_fence(RELEASE);
}

static void end_write(struct seq_cell *c)
{
    atomic_store_explicit(&c->sequence, atomic_load_explicit(&c->sequence, RELAXED) + 1, RELEASE);
}

static unsigned begin_read(struct seq_cell *c)
{
    return atomic_load_explicit(&c->sequence, ACQUIRE);
}

static bool end_read(struct seq_cell *c, unsigned began)
{
    atomic_thread_fence(ACQUIRE);
    return began % 2 == 0 && atomic_load_explicit(&c->sequence, RELAXED) == began;
}

static void write_atomic(struct seq_cell *c, unsigned value)
{
    begin_write(c);
    atomic_store_explicit(&c->low, value, RELAXED);
    atomic_store_explicit(&c->high, ~value, RELAXED);
    end_write(c);
}

static bool read_atomic(struct seq_cell *c, unsigned *low, unsigned *high)
{
    unsigned began = begin_read(c);
    *low = atomic_load_explicit(&c->low, RELAXED);
    *high = atomic_load_explicit(&c->high, RELAXED);
    return end_read(c, began);
}

/* Without its fences the protocol is only a wish: the data may be written before the sequence is odd, and the second
 * look at the sequence may be older than the data. */
static void write_unfenced(struct seq_cell *c, unsigned value)
{
    unsigned sequence = atomic_load_explicit(&c->sequence, RELAXED);
    atomic_store_explicit(&c->sequence, sequence + 1, RELAXED);
    atomic_store_explicit(&c->low, value, BROKEN(RELAXED, RELEASE));
    atomic_store_explicit(&c->high, ~value, BROKEN(RELAXED, RELEASE));
    atomic_store_explicit(&c->sequence, sequence + 2, RELEASE);
}

static bool read_unfenced(struct seq_cell *c, unsigned *low, unsigned *high)
{
    unsigned began = begin_read(c);
    *low = atomic_load_explicit(&c->low, BROKEN(RELAXED, ACQUIRE));
    *high = atomic_load_explicit(&c->high, BROKEN(RELAXED, ACQUIRE));
    return began % 2 == 0 && atomic_load_explicit(&c->sequence, RELAXED) == began;
}

static void write_plain(struct seq_cell *c, unsigned value)
{
    begin_write(c);
    c->plain_low = value;
    c->plain_high = ~value;
    end_write(c);
}

static bool read_plain(struct seq_cell *c, unsigned *low, unsigned *high)
{
    unsigned began = begin_read(c);
    *low = c->plain_low;
    *high = c->plain_high;
    return end_read(c, began);
}

static bool read_once(struct seq_cell *c, unsigned *low, unsigned *high)
{
    unsigned began = begin_read(c);
    *low = c->plain_low;
    *high = c->plain_high;
    return began % 2 == 0 && BROKEN(true, end_read(c, began));
}

static void seq_writer(const void *ops, void *cell, int thread)
{
    const struct seq_ops *o = ops;
    struct seq_cell *c = cell;
    (void)thread;
    meet(&c->present, threads);
    for (unsigned i = 1; i <= WRITES; i++)
        o->write(c, i * 0x10001u);
}

static void seq_reader(const void *ops, void *cell, int thread)
{
    const struct seq_ops *o = ops;
    struct seq_cell *c = cell;
    unsigned low = 0, high = 0;
    (void)thread;
    meet(&c->present, threads);
    for (int spins = 0; low != WRITES * 0x10001u; spins++) {
        yield_sometimes(spins);
        if (!o->read(c, &low, &high)) {
            low = 0;
        } else if (low != ~high && (low | high) != 0) { /* both are 0 before the first write */
            atomic_fetch_add(&c->wrong, 1);
            low = 0;
        }
    }
}

static bool seq_right(const void *cell)
{
    const struct seq_cell *c = cell;
    return c->wrong == 0;
}

/* ---- spinlock ---- */

#define TURNS 4 /* per thread and cell */

struct spin_cell {
    atomic_int held;
    atomic_int present;
    int counter;
};

struct spin_ops {
    void (*lock)(struct spin_cell *);
    void (*unlock)(struct spin_cell *);
};

static void lock_acquire(struct spin_cell *c)
{
    while (atomic_exchange_explicit(&c->held, 1, ACQUIRE))
        sched_yield();
}

static void unlock_release(struct spin_cell *c)
{
    atomic_store_explicit(&c->held, 0, RELEASE);
}

static void lock_fence(struct spin_cell *c)
{
    while (atomic_exchange_explicit(&c->held, 1, RELAXED))
        sched_yield();
    atomic_thread_fence(ACQUIRE);
}

static void unlock_fence(struct spin_cell *c)
{
    atomic_thread_fence(RELEASE);
    atomic_store_explicit(&c->held, 0, RELAXED);
}

static void lock_relaxed(struct spin_cell *c)
{
    while (atomic_exchange_explicit(&c->held, 1, BROKEN(RELAXED, ACQUIRE)))
        sched_yield();
}

static void unlock_relaxed(struct spin_cell *c)
{
    atomic_store_explicit(&c->held, 0, BROKEN(RELAXED, RELEASE));
}

/* Looks, then takes: two threads may both have looked. */
static bool test_and_set(struct spin_cell *c)
{
    if (atomic_load(&c->held))
        return false;
    BROKEN(atomic_store(&c->held, 1), int expected = 0);
    return BROKEN(true, atomic_compare_exchange_strong(&c->held, &expected, 1));
}

static void lock_test_set(struct spin_cell *c)
{
    while (!test_and_set(c))
        sched_yield();
}

static void spin_worker(const void *ops, void *cell, int thread)
{
    const struct spin_ops *o = ops;
    struct spin_cell *c = cell;
    (void)thread;
    meet(&c->present, threads);
    for (int i = 0; i < TURNS; i++) {
        o->lock(c);
        c->counter++;
        o->unlock(c);
    }
}

static bool spin_right(const void *cell)
{
    const struct spin_cell *c = cell;
    return c->counter == threads * TURNS;
}

/* ---- rcu ---- */

#define UPDATES 32 /* per cell */

struct config {
    int version, limit; /* limit is always 10 * version */
};

struct rcu_cell {
    _Alignas(64) atomic_int present;
    _Atomic(struct config *) current;
    atomic_int epoch;
    atomic_int seen[MAX_THREADS]; /* the epoch in which a reader was last outside any reading */
    atomic_int wrong;
    struct config first, second; /* take turns */
};

struct rcu_ops {
    void (*publish)(struct rcu_cell *, struct config *);
    struct config *(*current)(struct rcu_cell *);
    void (*synchronize)(struct rcu_cell *);
};

static void rcu_publish(struct rcu_cell *c, struct config *next)
{
    atomic_store_explicit(&c->current, next, RELEASE);
}

static struct config *rcu_current(struct rcu_cell *c)
{
    return atomic_load_explicit(&c->current, ACQUIRE);
}

static void rcu_synchronize(struct rcu_cell *c)
{
    int epoch = atomic_fetch_add_explicit(&c->epoch, 1, RELEASE) + 1;
    for (int reader = 1; reader < threads; reader++)
        for (int spins = 0; atomic_load_explicit(&c->seen[reader], ACQUIRE) < epoch; spins++)
            yield_sometimes(spins);
}

static void rcu_publish_relaxed(struct rcu_cell *c, struct config *next)
{
    atomic_store_explicit(&c->current, next, BROKEN(RELAXED, RELEASE));
}

static void rcu_no_grace(struct rcu_cell *c)
{
    BROKEN((void)c, rcu_synchronize(c));
}

static void rcu_updater(const void *ops, void *cell, int thread)
{
    const struct rcu_ops *o = ops;
    struct rcu_cell *c = cell;
    (void)thread;
    meet(&c->present, threads);
    for (int version = 1; version <= UPDATES; version++) {
        struct config *next = version % 2 ? &c->first : &c->second;
        next->version = version;
        next->limit = 10 * version;
        o->publish(c, next);
        o->synchronize(c);
    }
}

static int rcu_read(const struct rcu_ops *o, struct rcu_cell *c)
{
    const struct config *now = o->current(c);
    if (!now)
        return 0;
    int version = now->version;
    int limit = now->limit;
    if (limit != 10 * version)
        atomic_fetch_add(&c->wrong, 1);
    return version;
}

static void rcu_reader(const void *ops, void *cell, int thread)
{
    struct rcu_cell *c = cell;
    int version = 0;
    meet(&c->present, threads);
    for (int spins = 0; version < UPDATES; spins++) {
        version = rcu_read(ops, c);
        atomic_store_explicit(&c->seen[thread], atomic_load_explicit(&c->epoch, ACQUIRE), RELEASE);
        yield_sometimes(spins);
    }
    atomic_store_explicit(&c->seen[thread], UPDATES + 1, RELEASE); /* never reads again */
}

static bool rcu_right(const void *cell)
{
    const struct rcu_cell *c = cell;
    return c->wrong == 0;
}

/* ---- the table ---- */

static const struct mp_ops mp_acq_rel = {publish_release, arrived_acquire},
                           mp_seq_cst = {publish_seq_cst, arrived_seq_cst}, mp_fence = {publish_fence, arrived_fence},
                           mp_relaxed = {publish_weak, arrived_weak}, mp_weak_store = {publish_weak, arrived_acquire},
                           mp_weak_load = {publish_fence, arrived_weak};
static const struct sb_ops sb_seq_cst = {{enter_seq_cst, enter_seq_cst}}, sb_fence = {{enter_fence, enter_fence}},
                           sb_relaxed = {{enter_relaxed, enter_relaxed}}, sb_acq_rel = {{enter_acq_rel, enter_acq_rel}},
                           sb_one_fence = {{enter_fence, enter_forgotten_fence}};
static const struct seq_ops seq_fenced = {write_atomic, read_atomic}, seq_unfenced = {write_unfenced, read_unfenced},
                            seq_plain = {write_plain, read_plain}, seq_once = {write_plain, read_once};
static const struct spin_ops spin_acq_rel = {lock_acquire, unlock_release}, spin_fence = {lock_fence, unlock_fence},
                             spin_relaxed = {lock_relaxed, unlock_relaxed},
                             spin_test_set = {lock_test_set, unlock_release};
static const struct rcu_ops rcu_right_ops = {rcu_publish, rcu_current, rcu_synchronize},
                            rcu_relaxed = {rcu_publish_relaxed, rcu_current, rcu_synchronize},
                            rcu_nograce = {rcu_publish, rcu_current, rcu_no_grace};

typedef void role(const void *ops, void *cell, int thread);

struct test {
    size_t cell_size, cells;
    int most_threads;
    role *first, *others;
    bool (*right)(const void *cell);
};

static const struct test mp = {sizeof(struct mp_cell), 512, MAX_THREADS, mp_writer, mp_reader, mp_right};
static const struct test sb = {sizeof(struct sb_cell), 512, 2, sb_visitor, sb_visitor, sb_right};
static const struct test seqlock = {sizeof(struct seq_cell), 256, MAX_THREADS, seq_writer, seq_reader, seq_right};
static const struct test spinlock = {sizeof(struct spin_cell), 256, MAX_THREADS, spin_worker, spin_worker, spin_right};
static const struct test rcu = {sizeof(struct rcu_cell), 8, MAX_THREADS, rcu_updater, rcu_reader, rcu_right};

static const struct variant {
    const char *name;
    const struct test *test;
    const void *ops;
    const char *says;
} variants[] = {
    {"mp-acq-rel", &mp, &mp_acq_rel, "right"},
    {"mp-seq-cst", &mp, &mp_seq_cst, "right"},
    {"mp-fence", &mp, &mp_fence, "right: relaxed flag between a release and an acquire fence"},
    {"mp-relaxed", &mp, &mp_relaxed, "broken: relaxed flag"},
    {"mp-weak-store", &mp, &mp_weak_store, "broken: relaxed store, acquire load"},
    {"mp-weak-load", &mp, &mp_weak_load, "broken: release fence, but a relaxed load without a fence"},
    {"sb-seq-cst", &sb, &sb_seq_cst, "right"},
    {"sb-fence", &sb, &sb_fence, "right: seq_cst fence between store and load on both sides"},
    {"sb-relaxed", &sb, &sb_relaxed, "broken: both may enter"},
    {"sb-acq-rel", &sb, &sb_acq_rel, "broken: acquire and release do not order a store before a load"},
    {"sb-one-fence", &sb, &sb_one_fence, "broken: one side has only a release fence"},
    {"seqlock", &seqlock, &seq_fenced, "right: relaxed data between fences"},
    {"seqlock-unfenced", &seqlock, &seq_unfenced, "broken without a data race: torn pairs on weak machines"},
    {"seqlock-plain", &seqlock, &seq_plain, "broken: plain data, torn pairs are read again on sc and tso only"},
    {"seqlock-once", &seqlock, &seq_once, "broken: never looks at the sequence again"},
    {"spinlock", &spinlock, &spin_acq_rel, "right"},
    {"spinlock-fence", &spinlock, &spin_fence, "right: relaxed exchange and store with fences"},
    {"spinlock-relaxed", &spinlock, &spin_relaxed, "broken: excludes, but orders nothing"},
    {"spinlock-test-set", &spinlock, &spin_test_set, "broken: test and set in two steps"},
    {"rcu", &rcu, &rcu_right_ops, "right"},
    {"rcu-relaxed", &rcu, &rcu_relaxed, "broken: relaxed publication"},
    {"rcu-no-grace", &rcu, &rcu_nograce, "broken: reuses a configuration that is still read"},
};
#define VARIANTS (sizeof variants / sizeof *variants)

/* ---- running ---- */

struct runner {
    pthread_t thread;
    int number;
    const struct variant *variant;
    char *cells;
};

static void *runner_run(void *arg)
{
    struct runner *me = arg;
    const struct test *test = me->variant->test;
    role *role = me->number == 0 ? test->first : test->others;
    for (size_t i = 0; i < test->cells; i++)
        role(me->variant->ops, me->cells + i * test->cell_size, me->number);
    return NULL;
}

/* One row of fresh cells; returns the number of forbidden outcomes. */
static long run_row(const struct variant *variant)
{
    struct runner crew[MAX_THREADS];
    size_t cells_size = variant->test->cells * variant->test->cell_size;
    char *cells = aligned_alloc(64, cells_size);
    long forbidden = 0;
    if (!cells)
        exit(2);
    memset(cells, 0, cells_size);
    for (int t = 0; t < threads; t++) {
        crew[t] = (struct runner){.number = t, .variant = variant, .cells = cells};
        if (pthread_create(&crew[t].thread, NULL, runner_run, &crew[t]))
            exit(2);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(crew[t].thread, NULL);
    for (size_t at = 0; at < cells_size; at += variant->test->cell_size)
        forbidden += !variant->test->right(cells + at);
    free(cells);
    return forbidden;
}

static const struct variant *find_variant(const char *name)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (!strcmp(variants[i].name, name))
            return &variants[i];
    return NULL;
}

static int usage(int status)
{
    printf("usage: litmus --variant=NAME [-t threads (2..%d)] [-n rows of cells]\n", MAX_THREADS);
    for (size_t i = 0; i < VARIANTS; i++)
        printf("  %-18s %s\n", variants[i].name, variants[i].says);
    return status;
}

int main(int argc, char **argv)
{
    static const struct option long_options[] = {{"variant", required_argument, NULL, 'v'}, {0}};
    const struct variant *variant = &variants[0];
    long rows = 1, forbidden = 0;
    int option;
    while ((option = getopt_long(argc, argv, "t:n:h", long_options, NULL)) != -1) {
        if (option == 't')
            threads = atoi(optarg);
        else if (option == 'n')
            rows = atol(optarg);
        else if (option == 'v')
            variant = find_variant(optarg);
        else
            return usage(option == 'h' ? 0 : 2);
    }
    if (!variant || threads < 2 || threads > MAX_THREADS || rows < 0)
        return usage(2);
    if (threads > variant->test->most_threads)
        threads = variant->test->most_threads;
    for (long r = 0; r < rows; r++)
        forbidden += run_row(variant);
    if (forbidden)
        printf("FAILED: %ld cells ended in a forbidden way\n", forbidden);
    else
        printf("ok\n");
    return forbidden != 0;
}
