/* The race detector of the event stream against all pairs of accesses: the bytes it tells of are exactly those on
 * which some two conflicting accesses are unordered, whatever sizes and overlaps they have. Happens-before itself is
 * checked in happens_test.c; here it is asked for every pair. */
#include "detect/detector.h"
#include "detect/happens_before.h"

#include "event/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

extern const struct dh_detector dh_detector_race;

enum { EVENTS = 120, THREADS = 4, BYTES = 48, LOCKS = 2 };
/* What is made of a byte here: itself, or so many that accesses cover whole blocks of the detector's. */
static unsigned scale;
#define MEMORY 0x10000c0u /* so that it lies across two blocks */
#define LOCK_AT 0x7000000u

static uint32_t seed;
static unsigned random_below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

/* ---- the oracle: every access is kept ---- */

struct known {
    uint32_t thread, time;
    unsigned from, to; /* bytes */
    bool write, atomic, gone;
};

struct oracle {
    struct known all[EVENTS];
    size_t n;
    struct dh_happens *happens;
    bool racy[BYTES];
};

static bool conflict(const struct known *a, const struct known *b)
{
    return (a->write || b->write) && !(a->atomic && b->atomic);
}

static void oracle_access(struct oracle *o, struct known k)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct known *old = &o->all[i];
        if (old->gone || !conflict(old, &k) || dh_happens_before(o->happens, old->thread, old->time, k.thread))
            continue;
        for (unsigned b = k.from; b < k.to; b++)
            o->racy[b] |= b >= old->from && b < old->to;
    }
    o->all[o->n++] = k;
}

/* Bytes of a new object have no past: what is left of older accesses are their parts outside. */
static void oracle_forget(struct oracle *o, unsigned from, unsigned to)
{
    size_t n = o->n;
    for (size_t i = 0; i < n; i++) {
        struct known *k = &o->all[i], right = *k;
        if (k->gone || k->to <= from || k->from >= to)
            continue;
        right.from = to;
        if (right.from < right.to && o->n < EVENTS)
            o->all[o->n++] = right;
        k->to = k->from < from ? from : k->from;
        k->gone = k->from >= k->to;
    }
}

/* `told` is the event as the detector gets it. */
static void oracle_event(struct oracle *o, const struct dh_event *e, const struct dh_event *told)
{
    unsigned from = (unsigned)(e->addr - MEMORY);
    struct known k = {.thread = e->thread, .time = dh_happens_time(o->happens, e->thread), .from = from};
    bool atomic = e->kind == DH_EVENT_ATOMIC;
    k.atomic = atomic;
    k.write = e->kind == DH_EVENT_WRITE || (atomic && dh_event_atomic_wrote(e));
    k.to = from + (unsigned)(atomic ? dh_event_atomic_size(e) : e->arg);
    if (atomic)
        dh_happens_event(o->happens, told);
    if (dh_event_is_access(e) || atomic)
        oracle_access(o, k);
    if (e->kind == DH_EVENT_FREE) {
        k.write = true;
        oracle_access(o, k);
    }
    if (e->kind == DH_EVENT_FREE || e->kind == DH_EVENT_ALLOC)
        oracle_forget(o, k.from, k.to);
    if (!atomic)
        dh_happens_event(o->happens, told);
}

/* ---- streams ---- */

struct making {
    int holder[LOCKS]; /* thread + 1 */
    bool made[THREADS];
};

static bool make_lock(struct making *m, struct dh_event *e)
{
    unsigned lock = random_below(LOCKS);
    int me = (int)e->thread + 1;
    if (m->holder[lock] && m->holder[lock] != me)
        return false;
    e->kind = m->holder[lock] ? DH_EVENT_UNLOCK : DH_EVENT_LOCK;
    m->holder[lock] = m->holder[lock] ? 0 : me;
    e->addr = LOCK_AT + lock * 40;
    return true;
}

static void make_atomic(struct dh_event *e)
{
    static const uint8_t ops[] = {DH_OP_ATOMIC_LOAD, DH_OP_ATOMIC_STORE, DH_OP_ATOMIC_RMW};
    static const uint8_t orders[] = {DH_ORDER_RELAXED, DH_ORDER_ACQUIRE, DH_ORDER_RELEASE, DH_ORDER_SEQ_CST};
    unsigned op = random_below(3), size = 1u << random_below(4);
    e->addr = MEMORY + random_below(BYTES / size) * size;
    e->arg = ops[op] | (unsigned)orders[random_below(4)] << 8 | size << 16 | (uint64_t)(op > 0) << 32;
}

static void make_range(struct dh_event *e, unsigned most)
{
    unsigned from = random_below(BYTES);
    e->addr = MEMORY + from;
    e->arg = 1 + random_below(BYTES - from < most ? BYTES - from : most);
}

static bool make_event(struct making *m, struct dh_event *e, uint32_t site)
{
    *e = (struct dh_event){.thread = random_below(THREADS), .site = site};
    unsigned what = random_below(20);
    if (!m->made[e->thread])
        return false;
    if (what < 5)
        return make_lock(m, e);
    e->kind = what < 10   ? DH_EVENT_READ
              : what < 14 ? DH_EVENT_WRITE
              : what < 17 ? DH_EVENT_ATOMIC
              : what < 18 ? DH_EVENT_THREAD_CREATE
              : what < 19 ? DH_EVENT_ALLOC
                          : DH_EVENT_FREE;
    if (e->kind == DH_EVENT_THREAD_CREATE) {
        e->arg = random_below(THREADS);
        if (m->made[e->arg])
            return false;
        return m->made[e->arg] = true;
    }
    if (e->kind == DH_EVENT_ATOMIC)
        make_atomic(e);
    else if (dh_event_is_access(e))
        make_range(e, random_below(4) ? 8 : BYTES);
    else {
        make_range(e, 16);
        return random_below(6) == 0;
    }
    return true;
}

/* ---- both ---- */

struct heard {
    bool racy[BYTES];
    size_t n;
};

static void hear(void *arg, const char *detector, const void *suspicion)
{
    struct heard *h = arg;
    const struct dh_suspicion *s = suspicion;
    assert_string_equal(detector, "race");
    assert_int_equal(s->kind, DH_FINDING_RACE);
    assert_int_equal(s->n_suspects, 2);
    assert_int_not_equal(s->suspects[0].thread, s->suspects[1].thread);
    uint64_t from = (s->addr - MEMORY) / scale, n = s->size / scale;
    assert_true(s->addr >= MEMORY && from + n <= BYTES && n);
    assert_true((s->addr - MEMORY) % scale == 0 && s->size % scale == 0);
    memset(h->racy + from, true, n);
    h->n++;
}

static struct dh_event scaled(struct dh_event e)
{
    if (e.addr < MEMORY || e.addr >= MEMORY + BYTES)
        return e;
    e.addr = MEMORY + (e.addr - MEMORY) * scale;
    if (e.kind == DH_EVENT_ATOMIC)
        e.arg += (uint64_t)dh_event_atomic_size(&e) * (scale - 1) << 16;
    else
        e.arg *= scale;
    return e;
}

static size_t one_stream(uint32_t number)
{
    struct heard heard = {0};
    struct dh_run_host host = {.found = hear, .arg = &heard};
    struct dh_run_state *w = dh_run_state_new(&host);
    const char *why = NULL;
    void *self = dh_detector_race.begin(w, NULL, &why);
    struct oracle o = {.happens = dh_happens_new(DH_EDGES_ALL)};
    struct making m = {.made = {true}};
    seed = number * 2654435761u + 17;
    for (uint32_t site = 0; site < EVENTS && o.n < EVENTS - 2; site++) {
        struct dh_event e, told;
        while (!make_event(&m, &e, site))
            ;
        told = scaled(e);
        dh_run_state_before(w, &told);
        dh_detector_race.event(self, &told);
        dh_run_state_after(w, &told);
        oracle_event(&o, &e, &told);
        for (unsigned i = 0; i < BYTES; i++)
            if (heard.racy[i] != o.racy[i])
                fail_msg("stream %u, event %u: byte %u is %sracy", number, site, i, o.racy[i] ? "" : "not ");
    }
    dh_detector_race.release(self);
    dh_happens_free(o.happens);
    dh_run_state_free(w);
    return heard.n;
}

static void like_all_pairs(void **state)
{
    (void)state;
    size_t n = 0;
    for (uint32_t i = 0; i < 5000; i++) {
        scale = i % 2 ? 1 : 64;
        n += one_stream(i);
    }
    assert_true(n > 5000);
}

/* The same pair of places is told once, however often it happens; locks of the earlier access are those it had. */
static size_t locks_before;
static void count(void *arg, const char *detector, const void *suspicion)
{
    const struct dh_suspicion *s = suspicion;
    (void)detector;
    ++*(size_t *)arg;
    locks_before = s->suspects[1].n_locks;
    assert_int_equal(s->suspects[0].n_locks, 0);
}

static void each_pair_once(void **state)
{
    (void)state;
    size_t n = 0;
    struct dh_run_host host = {.found = count, .arg = &n};
    struct dh_run_state *w = dh_run_state_new(&host);
    const char *why = NULL;
    void *self = dh_detector_race.begin(w, NULL, &why);
    for (unsigned i = 0; i < 1000; i++) {
        struct dh_event steps[] = {
            {.kind = DH_EVENT_LOCK, .thread = 1, .addr = 8, .site = 1},
            {.kind = DH_EVENT_WRITE, .thread = 1, .addr = MEMORY + i * 8, .arg = 4, .site = 2},
            {.kind = DH_EVENT_UNLOCK, .thread = 1, .addr = 8, .site = 3},
            {.kind = DH_EVENT_READ, .thread = 2, .addr = MEMORY + i * 8, .arg = 4, .site = 4},
        };
        for (size_t k = 0; k < 4; k++) {
            dh_run_state_before(w, &steps[k]);
            dh_detector_race.event(self, &steps[k]);
            dh_run_state_after(w, &steps[k]);
        }
    }
    assert_int_equal(n, 1);
    assert_int_equal(locks_before, 1);
    dh_detector_race.release(self);
    dh_run_state_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_all_pairs), cmocka_unit_test(each_pair_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
