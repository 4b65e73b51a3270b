/* The optimised detector against a naive one: full vector clocks per byte and thread, nothing forgotten. On random
 * traces both must call the same access the first race of each byte, against the same kind of earlier access. */
#include "detect/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 5, LOCKS = 3, BYTES = 24, OPS = 120, TRACES = 12000, MOST_DONE = 1024 };

struct first {
    int op; /* -1 = none */
    bool after_write, after_read;
};

/* ---- naive ---- */

struct naive {
    uint32_t clock[THREADS][THREADS], lock[LOCKS][THREADS];
    uint32_t read[BYTES][THREADS], write[BYTES][THREADS], atomic_read[BYTES][THREADS], atomic_write[BYTES][THREADS];
    struct first first[BYTES];
};

static void naive_init(struct naive *n)
{
    memset(n, 0, sizeof *n);
    for (int t = 0; t < THREADS; t++)
        n->clock[t][t] = 1;
    for (int b = 0; b < BYTES; b++)
        n->first[b].op = -1;
}

static void naive_access(struct naive *n, int op, int t, int at, int size, bool writes, bool atomic)
{
    for (int b = at; b < at + size; b++) {
        bool w = false, r = false;
        for (int u = 0; u < THREADS; u++) {
            uint32_t now = n->clock[t][u];
            w = w || n->write[b][u] > now || (!atomic && n->atomic_write[b][u] > now);
            r = r || (writes && (n->read[b][u] > now || (!atomic && n->atomic_read[b][u] > now)));
        }
        if ((w || r) && n->first[b].op < 0)
            n->first[b] = (struct first){op, w, r};
        if (atomic)
            (writes ? n->atomic_write : n->atomic_read)[b][t] = n->clock[t][t];
        else
            (writes ? n->write : n->read)[b][t] = n->clock[t][t];
    }
}

static void naive_forget(struct naive *n, int granule)
{
    for (int b = granule * 4; b < granule * 4 + 4; b++) {
        memset(n->read[b], 0, sizeof n->read[b]);
        memset(n->write[b], 0, sizeof n->write[b]);
        memset(n->atomic_read[b], 0, sizeof n->atomic_read[b]);
        memset(n->atomic_write[b], 0, sizeof n->atomic_write[b]);
    }
}

static void naive_join(uint32_t *to, const uint32_t *from)
{
    for (int i = 0; i < THREADS; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* ---- ours ---- */

struct ours {
    struct dh_race race;
    struct dh_race_thread thread[THREADS];
    struct dh_clock lock[LOCKS];
    dh_cell cells[DH_CELLS];
    struct done {
        uint32_t time;
        int at, size;
        bool writes;
    } done[THREADS][MOST_DONE]; /* plain accesses, for what is behind a wide epoch */
    int n_done[THREADS];
    struct first first[BYTES];
};

static struct ours *current;
static int current_op;
static char *pool;
static size_t pool_used;
enum { POOL = 1 << 22 };

static void *from_pool(size_t n)
{
    void *p = pool + pool_used;
    pool_used += (n + 15) & ~(size_t)15;
    if (pool_used > POOL)
        abort();
    return memset(p, 0, n);
}

static void note_hit(struct dh_race_thread *t, const struct dh_race_hit *h)
{
    (void)t;
    for (unsigned i = 0; i < 64; i++) {
        if (!(h->bytes >> i & 1))
            continue;
        struct first *f = &current->first[h->addr + i];
        if (f->op < 0)
            *f = (struct first){.op = current_op};
        if (f->op == current_op) {
            f->after_write = f->after_write || h->wrote;
            f->after_read = f->after_read || !h->wrote;
        }
    }
}

/* The last access of that kind to each byte. */
static unsigned explain(uint32_t time, uintptr_t granule, bool writes, struct dh_line_access pairs[4])
{
    int t = (int)dh_epoch_slot(time) - 1;
    unsigned n = 0;
    for (unsigned b = 0; b < 4; b++)
        for (int i = current->n_done[t]; i-- > 0;) {
            const struct done *d = &current->done[t][i];
            int byte = (int)(granule + b);
            if (d->writes != writes || byte < d->at || byte >= d->at + d->size)
                continue;
            pairs[n++] = (struct dh_line_access){1u << b, d->time, writes ? DH_WRITES : DH_READS};
            break;
        }
    return n;
}

static void ours_init(struct ours *o)
{
    memset(o, 0, sizeof *o);
    pool_used = 0;
    dh_race_init(&o->race, from_pool, 4096);
    o->race.report = note_hit;
    o->race.explain = explain;
    for (unsigned t = 0; t < THREADS; t++) {
        o->thread[t].time = dh_epoch(t + 1, 1);
        o->thread[t].serial = t + 1;
        dh_vclock_set(&o->thread[t].clock, t + 1, 1);
    }
    for (int b = 0; b < BYTES; b++)
        o->first[b].op = -1;
    current = o;
}

static void ours_access(struct ours *o, int t, int at, int size, bool writes, bool atomic)
{
    if (!atomic)
        o->done[t][o->n_done[t]++] = (struct done){o->thread[t].time, at, size, writes};
    enum dh_access_kind kind = (enum dh_access_kind)((writes ? DH_WRITES : DH_READS) | (atomic ? DH_ATOMIC_READS : 0));
    struct dh_checked_access a = {.addr = (uintptr_t)at, .size = (size_t)size, .kind = kind};
    dh_race_record(&o->race, &o->thread[t], &o->cells[at / 4], &a);
}

/* ---- random traces ---- */

static uint64_t seed;
static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

struct world {
    struct naive naive;
    struct ours ours;
    int holder[LOCKS];
    unsigned synchronised; /* of 20 steps */
    unsigned atomics;      /* of 10 accesses */
};

static void acquire(struct world *w, int t, int lock)
{
    naive_join(w->naive.clock[t], w->naive.lock[lock]);
    dh_race_acquire(&w->ours.thread[t], &w->ours.lock[lock]);
    w->holder[lock] = t;
}

static void release(struct world *w, int t, int lock)
{
    memcpy(w->naive.lock[lock], w->naive.clock[t], sizeof w->naive.lock[lock]);
    w->naive.clock[t][t]++;
    dh_race_release(&w->ours.thread[t], &w->ours.lock[lock]);
    w->holder[lock] = -1;
}

/* Everything of one thread becomes known to another, as fork and join do. */
static void order(struct world *w, int from, int to)
{
    naive_join(w->naive.clock[to], w->naive.clock[from]);
    w->naive.clock[from][from]++;
    struct dh_clock past = {0};
    dh_race_release_join(&w->ours.thread[from], &past);
    dh_race_acquire(&w->ours.thread[to], &past);
}

/* The object is gone: what was done to it explains nothing of the next one. */
static void forget_done(struct ours *o, int at)
{
    for (int t = 0; t < THREADS; t++) {
        int n = o->n_done[t];
        for (int i = 0; i < n; i++) {
            struct done *d = &o->done[t][i];
            if (d->at >= at + 4 || d->at + d->size <= at)
                continue;
            struct done after = *d; /* what is left of it, below and above */
            after.size = d->at + d->size - (at + 4);
            after.at = at + 4;
            d->size = at > d->at ? at - d->at : 0;
            if (after.size > 0 && o->n_done[t] < MOST_DONE)
                o->done[t][o->n_done[t]++] = after;
        }
    }
}

static void step(struct world *w, int op)
{
    static const int sizes[] = {1, 2, 4, 4, 8, 8, 16, 3};
    int t = (int)pick(THREADS), what = (int)pick(20);
    if (what < (int)w->synchronised) {
        int lock = (int)pick(LOCKS);
        if (w->holder[lock] == t)
            release(w, t, lock);
        else if (w->holder[lock] < 0)
            acquire(w, t, lock);
        return;
    }
    if (pick(40) == 0) {
        int granule = (int)pick(BYTES / 4);
        naive_forget(&w->naive, granule);
        dh_race_forget(&w->ours.race, &w->ours.cells[granule], (uintptr_t)granule * 4);
        forget_done(&w->ours, granule * 4);
        return;
    }
    if (what == (int)w->synchronised) {
        order(w, t, (int)pick(THREADS));
        return;
    }
    int size = sizes[pick(8)], at = (int)pick((unsigned)(BYTES - size + 1));
    if (pick(3))
        at -= at % (size == 3 ? 1 : size > 8 ? 8 : size);
    bool writes = pick(3) == 0, atomic = pick(10) < w->atomics;
    current_op = op;
    naive_access(&w->naive, op, t, at, size, writes, atomic);
    ours_access(&w->ours, t, at, size, writes, atomic);
}

/* Every line is given back when no cell names it any more. */
static size_t lines_left(struct ours *o)
{
    for (int g = 0; g < BYTES / 4; g++)
        dh_race_forget(&o->race, &o->cells[g], (uintptr_t)g * 4);
    return o->race.lines.n - 1 - o->race.lines.n_resting;
}

static void same_first_races(void **state)
{
    (void)state;
    struct world *w = calloc(1, sizeof *w);
    pool = malloc(POOL);
    size_t races = 0;
    for (unsigned trace = 0; trace < TRACES; trace++) {
        seed = trace * 7919u + 1;
        naive_init(&w->naive);
        ours_init(&w->ours);
        for (int l = 0; l < LOCKS; l++)
            w->holder[l] = -1;
        int ops = 10 + (int)pick(OPS);
        w->synchronised = 3 + pick(14);
        w->atomics = pick(3) ? pick(8) : 0;
        for (int op = 0; op < ops; op++)
            step(w, op);
        assert_int_equal(w->ours.race.lost, 0);
        for (int b = 0; b < BYTES; b++) {
            struct first n = w->naive.first[b], o = w->ours.first[b];
            races += n.op >= 0;
            /* Where an earlier write raced, it is what matters; reads of the same moment may be told or not. */
            if (n.op != o.op || n.after_write != o.after_write || (!n.after_write && n.after_read != o.after_read))
                fail_msg("trace %u byte %d: naive says op %d (write %d, read %d), ours op %d (write %d, read %d)",
                         trace, b, n.op, n.after_write, n.after_read, o.op, o.after_write, o.after_read);
        }
        assert_int_equal(lines_left(&w->ours), 0);
    }
    print_message("%d traces, %zu racy bytes\n", TRACES, races);
    assert_true(races > TRACES);
    free(pool);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_first_races)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
