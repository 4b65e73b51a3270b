/* Lock sets against naive ones on random traces. Naive: every access is kept, for each the set of events known to be
 * before it, by the rules of handover.h read literally; every pair is tried. The detector must tell a pair for exactly
 * the bytes that have one, and no pair that is none. Eraser likewise: a state per byte, plain bit sets of locks. And
 * the two containers beneath against the simplest thing that could be in their place. */
#include "detect/detector.h"
#include "detect/granules.h"
#include "detect/locksets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, LOCKS = 3, OBJECTS = 2, BYTES = 24, UNITS = BYTES / 4, MOST = 160, TRACES = 6000 };
#define MEMORY 0x10000u
#define LOCK_AT(i) (0x20000u + 64u * (i))
#define OBJECT_AT(i) (0x30000u + 64u * (i))
#define CONDITION_AT(i) (0x40000u + 64u * (i))

static uint64_t seed;
static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* ---- traces ---- */

struct trace {
    struct dh_event e[MOST];
    struct dh_site site[MOST];
    int n;
};

/* What a unit of four bytes is like for all who access it. */
static bool is_pointer(unsigned unit)
{
    return unit % 3 == 1;
}
static bool is_element(unsigned unit)
{
    return unit % 3 == 2;
}
static bool is_global(unsigned unit)
{
    return unit % 2 == 0;
}

static struct dh_event *add(struct trace *t, unsigned kind, uint32_t thread, uint64_t addr, uint64_t arg)
{
    struct dh_event *e = &t->e[t->n];
    *e = (struct dh_event){
        .kind = (uint8_t)kind, .thread = thread, .addr = addr, .arg = arg, .site = (uint32_t)t->n, .seq = 1};
    t->n++;
    return e;
}

struct maker {
    struct trace *t;
    bool calm; /* nearly all accesses hold the lock of their unit */
    unsigned reads;
    bool begun[THREADS], joined[THREADS];
    int held[THREADS][LOCKS]; /* 0, 1 shared, 2 exclusive */
};

static void add_access(struct maker *m, uint32_t thread)
{
    struct trace *t = m->t;
    unsigned size = 1u << pick(4), at = pick(BYTES - size + 1), unit = at / 4;
    struct dh_event *e;
    if (m->calm && pick(20) && (!m->held[thread][unit % LOCKS] || at % 4 + size > 4))
        return;
    if (pick(8) == 0) {
        unsigned op = DH_OP_ATOMIC_LOAD + pick(4);
        bool wrote = op != DH_OP_ATOMIC_LOAD && (op != DH_OP_ATOMIC_CAS || pick(2));
        unsigned order = DH_ORDER_RELAXED + pick(5);
        e = add(t, DH_EVENT_ATOMIC, thread, MEMORY + at,
                op | order << 8 | (uint64_t)size << 16 | (uint64_t)wrote << 32);
    } else {
        e = add(t, pick(m->reads) ? DH_EVENT_READ : DH_EVENT_WRITE, thread, MEMORY + at, size);
    }
    struct dh_site *s = &t->site[e->site];
    s->line = 1 + pick(2);
    s->variable = 1 + unit; /* offset of a name of one letter is twice that, see `names` */
    s->flags = (uint16_t)((is_pointer(unit) ? DH_SITE_POINTER : 0) | (is_element(unit) ? DH_SITE_ELEMENT : 0) |
                          (is_global(unit) ? DH_SITE_GLOBAL : 0));
}

static bool can_take(const struct maker *m, int lock, bool shared)
{
    for (int i = 0; i < THREADS; i++)
        if (m->held[i][lock] == 2 || (m->held[i][lock] && !shared))
            return false;
    return true;
}

static void toggle_lock(struct maker *m, uint32_t i)
{
    int lock = (int)pick(LOCKS);
    bool shared = lock == LOCKS - 1 && pick(2);
    if (m->held[i][lock]) {
        add(m->t, DH_EVENT_UNLOCK, i, LOCK_AT(lock), 0);
        m->held[i][lock] = 0;
    } else if (can_take(m, lock, shared)) {
        add(m->t, DH_EVENT_LOCK, i, LOCK_AT(lock), 0)->flags = shared ? DH_EVENT_SHARED : 0;
        m->held[i][lock] = shared ? 1 : 2;
    }
}

/* A wait that ends at once, as if it was woken without need, or whatever others did in between. */
static void wait(struct maker *m, uint32_t i)
{
    int lock = (int)pick(LOCKS - 1);
    if (m->held[i][lock] != 2)
        return;
    add(m->t, DH_EVENT_COND_WAIT, i, CONDITION_AT(lock), LOCK_AT(lock));
    add(m->t, DH_EVENT_UNLOCK, i, LOCK_AT(lock), 0)->flags = DH_EVENT_WAIT;
    add(m->t, DH_EVENT_LOCK, i, LOCK_AT(lock), 0)->flags = DH_EVENT_WAIT;
    add(m->t, DH_EVENT_COND_WOKEN, i, CONDITION_AT(lock), LOCK_AT(lock));
}

static void begin_or_join(struct maker *m, uint32_t i)
{
    unsigned other = 1 + pick(THREADS - 1);
    if (!m->begun[other]) {
        add(m->t, DH_EVENT_THREAD_CREATE, i, 0, other);
        m->begun[other] = true;
    } else if (pick(4) == 0 && other != i && !m->joined[other]) {
        for (int lock = 0; lock < LOCKS; lock++)
            if (m->held[other][lock])
                return;
        add(m->t, DH_EVENT_THREAD_JOIN, i, 0, other);
        m->joined[other] = true;
    }
}

static void synchronise(struct maker *m, uint32_t i)
{
    static const uint8_t order[] = {DH_EVENT_ACQUIRE, DH_EVENT_RELEASE, DH_EVENT_RELEASE_JOIN,
                                    DH_EVENT_ACQUIRE_RELEASE};
    switch (pick(12)) {
    case 0:
        begin_or_join(m, i);
        break;
    case 1:
        add(m->t, order[pick(4)], i, OBJECT_AT(pick(OBJECTS)), DH_SYNC_SEMAPHORE);
        break;
    case 2:
        add(m->t, pick(2) ? DH_EVENT_COND_SIGNAL : DH_EVENT_COND_BROADCAST, i, CONDITION_AT(pick(LOCKS - 1)), 0);
        break;
    case 3:
        wait(m, i);
        break;
    case 4:
        if (pick(3) == 0) {
            unsigned at = pick(BYTES), size = pick(10);
            add(m->t, pick(2) ? DH_EVENT_ALLOC : DH_EVENT_FREE, i, MEMORY + at, size);
        }
        break;
    default:
        toggle_lock(m, i);
    }
}

/* As the stream promises: a thread's accesses stand just before its next other event. */
static void make(struct trace *t)
{
    struct maker m = {.t = t, .calm = pick(4), .reads = 2 + pick(3), .begun = {true}};
    int length = 40 + (int)pick(MOST - 52);
    t->n = 0;
    memset(t->site, 0, sizeof t->site);
    while (t->n < length) {
        uint32_t i = pick(THREADS);
        if (!m.begun[i] || m.joined[i])
            continue;
        for (unsigned n = pick(4); n > 0; n--)
            add_access(&m, i);
        int before = t->n;
        synchronise(&m, i);
        if (t->n == before)
            add(t, DH_EVENT_FORGET, i, 0x50000, 0);
    }
}

/* ---- naive order ---- */

typedef struct {
    bool event[MOST];
} known; /* a set of events */

static void join(known *to, const known *from)
{
    for (int i = 0; i < MOST; i++)
        to->event[i] |= from->event[i];
}

struct unit {
    int writer, writer_segment, reader_segment, read_line; /* event; -1: none */
    bool anew;
    uint8_t locks; /* that the writer held exclusively */
};

struct naive {
    const struct trace *t;
    known thread[2][THREADS], lock[2][LOCKS], object[2][OBJECTS], condition[2][LOCKS], atomic[2][BYTES];
    int held[THREADS][LOCKS], segment[THREADS], segments;
    bool name[UNITS], read[THREADS][UNITS], written[THREADS][UNITS], signalled[THREADS];
    struct unit unit[UNITS];
    bool alive[MOST][BYTES]; /* accesses, by the bytes not forgotten since */
    uint8_t any[MOST], exclusive[MOST];
    bool race[MOST][MOST], byte[BYTES];
    int waiting[THREADS][MOST], n_waiting[THREADS]; /* accesses under locks */
};

static uint8_t locks_of(const struct naive *n, uint32_t thread, int at_least)
{
    unsigned set = 0;
    for (int i = 0; i < LOCKS; i++)
        set |= (unsigned)(n->held[thread][i] >= at_least) << i;
    return (uint8_t)set;
}

static bool is_atomic(const struct dh_event *e)
{
    return e->kind == DH_EVENT_ATOMIC;
}
static bool writes(const struct dh_event *e)
{
    return is_atomic(e) ? dh_event_atomic_wrote(e) : e->kind == DH_EVENT_WRITE;
}
static unsigned size_of(const struct dh_event *e)
{
    return is_atomic(e) ? dh_event_atomic_size(e) : (unsigned)e->arg;
}
static unsigned at_of(const struct dh_event *e)
{
    return (unsigned)(e->addr - MEMORY);
}

static bool by_name(const struct naive *n, int i)
{
    return (n->t->site[i].flags & DH_SITE_GLOBAL) && !(n->t->site[i].flags & DH_SITE_ELEMENT);
}

static bool racy(const struct naive *n, int then, int now)
{
    const struct dh_event *a = &n->t->e[then], *b = &n->t->e[now];
    int strength = by_name(n, then) && by_name(n, now) ? 0 : 1;
    return a->thread != b->thread && (writes(a) || writes(b)) && !(is_atomic(a) && is_atomic(b)) &&
           !(n->any[then] & n->exclusive[now]) && !(n->exclusive[then] & n->any[now]) &&
           !n->thread[strength][b->thread].event[then];
}

static void naive_access(struct naive *n, int now)
{
    const struct dh_event *e = &n->t->e[now];
    for (unsigned b = at_of(e); b < at_of(e) + size_of(e); b++) {
        for (int then = 0; then < now; then++)
            if (n->alive[then][b] && racy(n, then, now))
                n->race[then][now] = n->byte[b] = true;
        n->alive[now][b] = true;
    }
}

static bool touches(const struct dh_event *e, unsigned unit)
{
    return at_of(e) < 4 * unit + 4 && at_of(e) + size_of(e) > 4 * unit;
}

static unsigned name_of(const struct naive *n, int i)
{
    return n->t->site[i].variable - 1;
}

/* What a read under locks tells by what was written there. */
static void naive_learn(struct naive *n, int now, unsigned u)
{
    const struct unit *unit = &n->unit[u];
    uint32_t me = n->t->e[now].thread;
    uint16_t flags = n->t->site[now].flags;
    if (unit->writer < 0 || n->t->e[unit->writer].thread == me)
        return;
    bool subject = n->name[name_of(n, now)] || n->name[name_of(n, unit->writer)];
    bool flag = unit->anew && !(flags & (DH_SITE_POINTER | DH_SITE_ELEMENT));
    bool item = unit->anew || (flags & DH_SITE_POINTER);
    for (int i = 0; i < LOCKS; i++)
        for (int s = 0; s < 2; s++)
            if (n->held[me][i] && (unit->locks >> i & 1) && (subject || flag || (s == 1 && item)))
                join(&n->thread[s][me], &n->lock[s][i]);
}

static void naive_leave(struct naive *n, int now, unsigned u, int segment)
{
    struct unit *unit = &n->unit[u];
    int line = (int)n->t->site[now].line;
    if (!writes(&n->t->e[now])) {
        unit->reader_segment = segment;
        unit->read_line = line;
        return;
    }
    bool anew = unit->reader_segment != segment || unit->read_line != line;
    if (unit->writer_segment == segment && !unit->anew)
        anew = false;
    *unit =
        (struct unit){now, segment, unit->reader_segment, unit->read_line, anew, locks_of(n, n->t->e[now].thread, 2)};
}

static void naive_flush(struct naive *n, uint32_t me)
{
    int count = n->n_waiting[me], *all = n->waiting[me];
    int segment = count ? ++n->segments : 0;
    n->n_waiting[me] = 0;
    for (unsigned u = 0; u < UNITS; u++)
        for (int i = 0; i < count; i++)
            if (!writes(&n->t->e[all[i]]) && touches(&n->t->e[all[i]], u))
                naive_learn(n, all[i], u);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++)
            for (unsigned u = 0; u < UNITS; u++)
                if (writes(&n->t->e[all[i]]) == pass && touches(&n->t->e[all[i]], u))
                    naive_leave(n, all[i], u, segment);
    for (int i = 0; i < count; i++) {
        bool write = writes(&n->t->e[all[i]]);
        if (write && n->signalled[me])
            n->name[name_of(n, all[i])] = true;
        (write ? n->written : n->read)[me][name_of(n, all[i])] = true;
        naive_access(n, all[i]);
    }
}

static void naive_atomic(struct naive *n, int now)
{
    const struct dh_event *e = &n->t->e[now];
    unsigned order = dh_event_atomic_order(e), b = at_of(e);
    bool acquires = order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
    bool releases = order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
    for (int s = 0; s < 2; s++) {
        if (acquires && dh_event_atomic_op(e) != DH_OP_ATOMIC_STORE)
            join(&n->thread[s][e->thread], &n->atomic[s][b]);
        if (writes(e) && dh_event_atomic_op(e) == DH_OP_ATOMIC_STORE)
            n->atomic[s][b] = (known){0};
        if (writes(e) && releases)
            join(&n->atomic[s][b], &n->thread[s][e->thread]);
    }
    naive_access(n, now);
}

static void naive_memory(struct naive *n, const struct dh_event *e)
{
    for (unsigned b = at_of(e); b < at_of(e) + e->arg && b < BYTES; b++) {
        for (int i = 0; i < MOST; i++)
            n->alive[i][b] = false;
        for (int s = 0; s < 2; s++)
            n->atomic[s][b] = (known){0};
        n->unit[b / 4] = (struct unit){-1, -1, -1, -1, false, 0};
    }
}

static int lock_of(uint64_t addr)
{
    return (int)((addr & 0xFFFF) / 64);
}

static void naive_lock(struct naive *n, const struct dh_event *e)
{
    int lock = lock_of(e->addr);
    memset(n->read[e->thread], 0, sizeof n->read[0]);
    memset(n->written[e->thread], 0, sizeof n->written[0]);
    n->signalled[e->thread] = false;
    n->held[e->thread][lock] = e->flags & DH_EVENT_SHARED ? 1 : 2;
    for (int s = 0; s < 2 && (e->flags & DH_EVENT_WAIT); s++)
        join(&n->thread[s][e->thread], &n->lock[s][lock]);
}

static void naive_names(struct naive *n, const bool *names)
{
    for (int i = 0; i < UNITS; i++)
        n->name[i] |= names[i];
}

static void naive_orders(struct naive *n, const struct dh_event *e, int s)
{
    known *me = &n->thread[s][e->thread], *object = &n->object[s][lock_of(e->addr) % OBJECTS];
    known *condition = &n->condition[s][lock_of(e->addr) % LOCKS];
    bool release = e->kind == DH_EVENT_RELEASE_JOIN || e->kind == DH_EVENT_ACQUIRE_RELEASE;
    if (e->kind == DH_EVENT_THREAD_CREATE)
        join(&n->thread[s][e->arg], me);
    if (e->kind == DH_EVENT_THREAD_JOIN)
        join(me, &n->thread[s][e->arg]);
    if (e->kind == DH_EVENT_ACQUIRE || e->kind == DH_EVENT_ACQUIRE_RELEASE)
        join(me, object);
    if (e->kind == DH_EVENT_RELEASE)
        *object = *me;
    if (release)
        join(object, me);
    if (e->kind == DH_EVENT_COND_WOKEN)
        join(me, condition);
    if (e->kind == DH_EVENT_COND_SIGNAL || e->kind == DH_EVENT_COND_BROADCAST)
        join(condition, me);
    if (e->kind == DH_EVENT_UNLOCK && n->held[e->thread][lock_of(e->addr)] == 2)
        join(&n->lock[s][lock_of(e->addr)], me);
}

static void naive_event(struct naive *n, int i)
{
    const struct dh_event *e = &n->t->e[i];
    uint32_t me = e->thread;
    bool plain = dh_event_is_access(e);
    if (!plain)
        naive_flush(n, me);
    n->any[i] = locks_of(n, me, 1);
    n->exclusive[i] = locks_of(n, me, 2);
    n->thread[0][me].event[i] = n->thread[1][me].event[i] = true;
    if (plain && n->any[i])
        n->waiting[me][n->n_waiting[me]++] = i;
    else if (plain)
        naive_access(n, i);
    else if (is_atomic(e))
        naive_atomic(n, i);
    else if (e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE)
        naive_memory(n, e);
    else if (e->kind == DH_EVENT_LOCK)
        naive_lock(n, e);
    else if (e->kind == DH_EVENT_COND_WAIT)
        naive_names(n, n->read[me]);
    else if (e->kind == DH_EVENT_COND_SIGNAL || e->kind == DH_EVENT_COND_BROADCAST)
        naive_names(n, n->written[me]), n->signalled[me] = true;
    if (!plain && !is_atomic(e))
        for (int s = 0; s < 2; s++)
            naive_orders(n, e, s);
    if (e->kind == DH_EVENT_UNLOCK)
        n->held[me][lock_of(e->addr)] = 0;
}

static struct naive *naive_run(const struct trace *t)
{
    struct naive *n = calloc(1, sizeof *n);
    n->t = t;
    for (int i = 0; i < UNITS; i++)
        n->unit[i] = (struct unit){-1, -1, -1, -1, false, 0};
    for (int i = 0; i < t->n; i++)
        naive_event(n, i);
    for (uint32_t i = 0; i < THREADS; i++)
        naive_flush(n, i);
    return n;
}

/* ---- the detector ---- */

struct host {
    const struct trace *t;
    struct dh_site_table table;
    bool told[MOST][MOST];
    bool byte[BYTES], covered[BYTES]; /* told; of a pair's accesses, whatever was forgotten in between */
};

static const char names[] = "\0a\0b\0c\0d\0e\0f";

static const struct dh_site *site_of(void *arg, uint32_t place, const struct dh_site_table **table)
{
    static struct dh_site s;
    struct host *h = arg;
    if (place >= MOST || !h->t->site[place].line)
        return NULL;
    s = h->t->site[place];
    s.variable = 2 * s.variable - 1;
    *table = &h->table;
    return &s;
}

static void found(void *arg, const char *detector, const void *suspicion)
{
    struct host *h = arg;
    const struct dh_suspicion *s = suspicion;
    assert_string_equal(detector, "lockset");
    assert_int_equal(s->kind, DH_SUSPECT_RACE);
    assert_int_equal(s->level, DH_LEVEL_SUSPECTED);
    assert_int_equal(s->n_suspects, 2);
    const struct dh_event *e[2];
    for (int i = 0; i < 2; i++) {
        const struct dh_suspect *x = &s->suspects[i];
        e[i] = &h->t->e[x->site];
        assert_int_equal(x->thread, e[i]->thread);
        assert_true(x->addr <= s->addr && x->addr + x->size >= s->addr + s->size);
        assert_true(x->addr >= e[i]->addr || x->addr % 8 == 0 || x->size > size_of(e[i]));
    }
    h->told[s->suspects[0].site][s->suspects[1].site] = true;
    for (unsigned b = 0; b < BYTES; b++)
        if (b >= at_of(e[0]) && b < at_of(e[0]) + size_of(e[0]) && b >= at_of(e[1]) && b < at_of(e[1]) + size_of(e[1]))
            h->covered[b] = true;
    for (uint64_t b = s->addr - MEMORY; b < s->addr - MEMORY + s->size; b++)
        h->byte[b] = true;
}

extern const struct dh_detector dh_detector_lockset;

static const char *option(void *arg, const char *key)
{
    return strcmp(key, "lockset") == 0 ? arg : NULL;
}

static void run(const struct trace *t, struct host *h, const char *way)
{
    const struct dh_detector *d = &dh_detector_lockset;
    struct dh_world_host host = {.site = site_of, .found = found, .arg = h};
    struct dh_world *w = dh_world_new(&host);
    struct dh_detector_options o = {option, (void *)(uintptr_t)way};
    const char *why = NULL;
    memset(h, 0, sizeof *h);
    h->t = t;
    h->table = (struct dh_site_table){.strings = names, .n_strings = sizeof names};
    void *self = d->begin(w, &o, &why);
    assert_non_null(self);
    for (int i = 0; i < t->n; i++) {
        dh_world_before(w, &t->e[i]);
        if (dh_event_info(t->e[i].kind)->group & d->events)
            d->event(self, &t->e[i]);
        dh_world_after(w, &t->e[i]);
    }
    d->end(self);
    d->release(self);
    dh_world_free(w);
}

static void print_trace(const struct trace *t)
{
    for (int i = 0; i < t->n; i++)
        print_message("%3d: %u %s 0x%llx %llx flags %x line %u\n", i, t->e[i].thread, dh_event_info(t->e[i].kind)->name,
                      (unsigned long long)t->e[i].addr, (unsigned long long)t->e[i].arg, t->e[i].flags,
                      t->site[i].line);
}

static void test_hybrid(void **state)
{
    static struct trace t;
    static struct host h;
    int with = 0, pairs = 0, bytes = 0;
    (void)state;
    for (int i = 0; i < TRACES; i++) {
        seed = 1000003u * (unsigned)i + 17;
        make(&t);
        run(&t, &h, i % 2 ? NULL : "hybrid");
        struct naive *n = naive_run(&t);
        bool any = false;
        for (int a = 0; a < MOST; a++)
            for (int b = 0; b < MOST; b++) {
                if (h.told[a][b] && !n->race[a][b]) {
                    print_trace(&t);
                    fail_msg("trace %d: pair %d, %d is told and is none", i, a, b);
                }
                pairs += h.told[a][b];
            }
        for (int b = 0; b < BYTES; b++) {
            if (h.byte[b] > n->byte[b] || h.covered[b] < n->byte[b]) {
                print_trace(&t);
                fail_msg("trace %d: byte %d: %d, should be %d", i, b, h.byte[b], n->byte[b]);
            }
            any = any || n->byte[b];
            bytes += n->byte[b];
        }
        with += any;
        free(n);
    }
    print_message("%d of %d traces with pairs, %d of %d bytes, %d pairs told\n", with, TRACES, bytes, TRACES * BYTES,
                  pairs);
    assert_true(with > TRACES / 10 && with < TRACES);
}

/* ---- eraser ---- */

enum phase { VIRGIN, EXCLUSIVE, SHARED, SHARED_MODIFIED };

struct eraser {
    enum phase phase[BYTES];
    uint32_t owner[BYTES];
    unsigned locks[BYTES];
    bool violated[BYTES];
    bool accessed[BYTES][THREADS][2];
};

static void eraser_access(struct eraser *x, unsigned b, const struct dh_event *e, unsigned any, unsigned exclusive)
{
    bool write = writes(e), in_the_way = false;
    for (uint32_t i = 0; i < THREADS; i++)
        in_the_way = in_the_way || (i != e->thread && (x->accessed[b][i][1] || (write && x->accessed[b][i][0])));
    if (x->phase[b] == VIRGIN)
        x->phase[b] = EXCLUSIVE, x->owner[b] = e->thread, x->locks[b] = ~0u;
    if (x->phase[b] != EXCLUSIVE || x->owner[b] != e->thread) {
        x->phase[b] = write || x->phase[b] == SHARED_MODIFIED ? SHARED_MODIFIED : SHARED;
        x->locks[b] &= write ? exclusive : any;
        /* Without an access of another thread in its way there is no pair to tell. */
        if (x->phase[b] == SHARED_MODIFIED && !x->locks[b] && in_the_way)
            x->violated[b] = true;
    }
    x->accessed[b][e->thread][write] = true;
}

static void eraser_run(struct eraser *x, const struct trace *t)
{
    int held[THREADS][LOCKS] = {0};
    memset(x, 0, sizeof *x);
    for (int i = 0; i < t->n; i++) {
        const struct dh_event *e = &t->e[i];
        unsigned any = 0, exclusive = 0;
        for (int k = 0; k < LOCKS; k++)
            any |= (unsigned)(held[e->thread][k] > 0) << k, exclusive |= (unsigned)(held[e->thread][k] > 1) << k;
        for (unsigned b = 0; b < BYTES; b++)
            if (dh_event_is_access(e) && b >= at_of(e) && b < at_of(e) + e->arg)
                eraser_access(x, b, e, any, exclusive);
            else if ((e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE) && b >= at_of(e) && b < at_of(e) + e->arg)
                x->phase[b] = VIRGIN, memset(x->accessed[b], 0, sizeof x->accessed[b]);
        if (e->kind == DH_EVENT_LOCK)
            held[e->thread][lock_of(e->addr)] = e->flags & DH_EVENT_SHARED ? 1 : 2;
        if (e->kind == DH_EVENT_UNLOCK)
            held[e->thread][lock_of(e->addr)] = 0;
    }
}

/* Atomics take no part. */
static void drop_atomics(struct trace *t)
{
    for (int i = 0; i < t->n; i++)
        if (is_atomic(&t->e[i]))
            t->e[i].kind = DH_EVENT_MARK;
}

static void test_eraser(void **state)
{
    static struct trace t;
    static struct host h;
    static struct eraser x;
    int with = 0;
    (void)state;
    for (int i = 0; i < TRACES; i++) {
        bool any = false;
        seed = 7000003u * (unsigned)i + 5;
        make(&t);
        drop_atomics(&t);
        run(&t, &h, "eraser");
        eraser_run(&x, &t);
        for (int b = 0; b < BYTES; b++) {
            if (h.byte[b] > x.violated[b] || h.covered[b] < x.violated[b]) {
                print_trace(&t);
                fail_msg("trace %d: byte %d: %d, should be %d", i, b, h.byte[b], x.violated[b]);
            }
            any = any || x.violated[b];
        }
        for (int a = 0; a < MOST; a++)
            for (int b = 0; b < MOST; b++)
                if (h.told[a][b]) {
                    const struct dh_event *p = &t.e[a], *q = &t.e[b];
                    bool hit = false;
                    for (unsigned k = 0; k < BYTES; k++)
                        hit = hit || (x.violated[k] && k >= at_of(p) && k < at_of(p) + p->arg && k >= at_of(q) &&
                                      k < at_of(q) + q->arg);
                    assert_true(p->thread != q->thread && (writes(p) || writes(q)) && hit);
                }
        with += any;
    }
    print_message("%d of %d traces with violations\n", with, TRACES);
    assert_true(with > TRACES / 10 && with < TRACES);
}

static void test_options(void **state)
{
    struct dh_detector_options o = {option, (void *)(uintptr_t)"else"};
    const char *why = NULL;
    struct dh_world *w = dh_world_new(NULL);
    (void)state;
    assert_null(dh_detector_lockset.begin(w, &o, &why));
    assert_non_null(why);
    dh_world_free(w);
}

/* ---- beneath ---- */

enum { CELLS = 4096 };
struct mirror {
    uint32_t cell[CELLS];
    uint32_t value;
    bool only_known;
};

static uint32_t set_step(void *arg, uint32_t old, uint64_t granule, unsigned mask)
{
    struct mirror *m = arg;
    size_t i = granule / 8 % CELLS;
    assert_int_equal(old, m->cell[i]);
    assert_true(mask != 0 && mask <= 0xFF && (!m->only_known || old));
    m->cell[i] = mask == 0xFF ? m->value : m->value ? m->value ^ mask : 0;
    return m->cell[i];
}

static void test_granules(void **state)
{
    static struct mirror m;
    struct dh_granules g;
    (void)state;
    dh_granules_init(&g);
    memset(&m, 0, sizeof m);
    seed = 3;
    for (int i = 0; i < 20000; i++) {
        bool visit = m.only_known = pick(2);
        uint64_t size = pick(20) ? pick(40) : pick(9000), at = pick(8 * CELLS - 9000);
        m.value = pick(3) ? 1 + pick(1000) : 0;
        (visit ? dh_granules_visit : dh_granules_update)(&g, at, size, set_step, &m);
    }
    m.value = 0;
    m.only_known = true;
    dh_granules_visit(&g, 0, UINT64_MAX, set_step, &m);
    for (int i = 0; i < CELLS; i++)
        assert_int_equal(m.cell[i], 0);
    assert_int_equal(g.n, 0);
    m.only_known = false;
    dh_granules_update(&g, UINT64_MAX - 3, 100, set_step, &m); /* ends where addresses end */
    dh_granules_release(&g, NULL, NULL);
}

static void test_locksets(void **state)
{
    enum { N = 40 };
    struct dh_locksets *s = dh_locksets_new();
    uint32_t set[N] = {0}, bits[N] = {0};
    (void)state;
    seed = 11;
    for (int i = 0; i < 50000; i++) {
        unsigned a = pick(N), b = pick(N), c = pick(N);
        uint32_t locks[6], all = 0;
        size_t n = pick(6);
        for (size_t k = 0; k < n; k++)
            locks[k] = pick(10), all |= 1u << locks[k];
        bool fresh = pick(2);
        uint32_t new = fresh ? dh_locksets_get(s, locks, n) : dh_locksets_meet(s, set[a], set[b]);
        uint32_t expected = fresh ? all : bits[a] & bits[b];
        dh_locksets_put(s, set[c]);
        set[c] = new;
        bits[c] = expected;
        assert_int_equal(dh_locksets_disjoint(s, set[a], set[c]), !(bits[a] & bits[c]));
        assert_int_equal(dh_locksets_within(s, set[a], set[c]), !(bits[a] & ~bits[c]));
        assert_int_equal(set[a] == set[c], bits[a] == bits[c]);
    }
    dh_locksets_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_granules), cmocka_unit_test(test_locksets), cmocka_unit_test(test_options),
        cmocka_unit_test(test_hybrid),   cmocka_unit_test(test_eraser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
