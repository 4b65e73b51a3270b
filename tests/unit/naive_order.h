/* Random traces, and the order of their events by the rules of detect/learned_order.h read literally: for each thread
 * the set of events that are known to be before what it does now, in the three strengths of detect/segments.h. For
 * tests of detectors that use it; each judges the accesses itself. */
#ifndef DH_TESTS_NAIVE_ORDER_H
#define DH_TESTS_NAIVE_ORDER_H

#include "detect/detector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, LOCKS = 3, OBJECTS = 2, BYTES = 24, UNITS = BYTES / 4, MOST = 160 };
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
    bool anew, asked, often;
    uint8_t locks;   /* that the writer held exclusively */
    known before[3]; /* what the writer left behind */
};

struct naive {
    const struct trace *t;
    known thread[3][THREADS], lock[3][LOCKS], object[3][OBJECTS], condition[3][LOCKS], atomic[3][BYTES];
    unsigned width[BYTES]; /* of the widest atomic store that begins here, since one released; 0: none did */
    int given[THREADS];    /* last lock and 1 */
    int held[THREADS][LOCKS], segment[THREADS], segments;
    bool name[UNITS], read[THREADS][UNITS], written[THREADS][UNITS], signalled[THREADS];
    struct unit unit[UNITS];
    uint8_t any[MOST], exclusive[MOST]; /* locks, by event */
    void (*access)(struct naive *n, int i);
    void (*forget)(struct naive *n, const struct dh_event *e, unsigned byte);
    void *judge;
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

/* Two accesses that may meet: `now` is what its thread does at present. */
static bool may_meet(const struct naive *n, int then, int now)
{
    const struct dh_event *a = &n->t->e[then], *b = &n->t->e[now];
    int strength = !by_name(n, then) || !by_name(n, now) ? 2 : n->any[then] && n->any[now] ? 0 : 1;
    return a->thread != b->thread && (writes(a) || writes(b)) && !(is_atomic(a) && is_atomic(b)) &&
           !(n->any[then] & n->exclusive[now]) && !(n->exclusive[then] & n->any[now]) &&
           !n->thread[strength][b->thread].event[then];
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
    bool flag = unit->anew && unit->asked && !unit->often && !(flags & (DH_SITE_POINTER | DH_SITE_ELEMENT));
    bool item = unit->anew || (flags & DH_SITE_POINTER);
    for (int i = 0; i < LOCKS; i++)
        for (int s = 1; s < 3; s++)
            if (n->held[me][i] && (unit->locks >> i & 1) && (subject || flag || (s == 2 && item)))
                join(&n->thread[s][me], &unit->before[s]);
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
    bool read = unit->reader_segment == segment, more = unit->writer_segment == segment;
    unit->anew = (!read || unit->read_line != line) && (!more || unit->anew);
    unit->asked = read || (more && unit->asked);
    unit->often |= unit->writer >= 0 && !more;
    unit->writer = now;
    unit->writer_segment = segment;
    unit->locks = locks_of(n, n->t->e[now].thread, 2);
}

static void naive_publish(struct naive *n, uint32_t me, int segment)
{
    for (int u = 0; u < UNITS; u++)
        for (int s = 0; s < 3 && n->unit[u].writer_segment == segment; s++) {
            n->unit[u].before[s] = n->thread[s][me];
            for (int i = 0; i < LOCKS; i++)
                if (n->held[me][i] == 2)
                    join(&n->unit[u].before[s], &n->lock[s][i]);
        }
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
    for (int pass = 0; pass < 3; pass++)
        for (int i = 0; i < count; i++)
            for (unsigned u = 0; u < UNITS; u++)
                if (writes(&n->t->e[all[i]]) == pass && touches(&n->t->e[all[i]], u))
                    naive_leave(n, all[i], u, segment);
    for (int i = 0; i < count; i++) {
        bool write = writes(&n->t->e[all[i]]);
        if (write && n->signalled[me])
            n->name[name_of(n, all[i])] = true;
        (write ? n->written : n->read)[me][name_of(n, all[i])] = true;
        n->access(n, all[i]);
    }
    if (count)
        naive_publish(n, me, segment);
}

/* Atomics of different sizes may overlap. */
static void naive_acquire(struct naive *n, int now, int s)
{
    const struct dh_event *e = &n->t->e[now];
    unsigned from = at_of(e), to = from + size_of(e);
    for (unsigned b = 0; b < to && b < BYTES; b++)
        if (n->width[b] && b + n->width[b] > from)
            join(&n->thread[s][e->thread], &n->atomic[s][b]);
}

static void naive_atomic(struct naive *n, int now)
{
    const struct dh_event *e = &n->t->e[now];
    unsigned order = dh_event_atomic_order(e), b = at_of(e);
    bool acquires = order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
    bool releases = order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
    for (int s = 0; s < 3; s++) {
        if (acquires && dh_event_atomic_op(e) != DH_OP_ATOMIC_STORE)
            naive_acquire(n, now, s);
        if (writes(e) && dh_event_atomic_op(e) == DH_OP_ATOMIC_STORE)
            n->atomic[s][b] = (known){0};
        if (writes(e) && releases)
            join(&n->atomic[s][b], &n->thread[s][e->thread]);
    }
    if (writes(e) && (releases || n->width[b]) && n->width[b] < size_of(e))
        n->width[b] = size_of(e);
    n->access(n, now);
}

static void naive_memory(struct naive *n, const struct dh_event *e)
{
    for (unsigned b = at_of(e); b < at_of(e) + e->arg && b < BYTES; b++) {
        n->forget(n, e, b);
        for (int s = 0; s < 3; s++)
            n->atomic[s][b] = (known){0};
        n->width[b] = 0;
        n->unit[b / 4] = (struct unit){.writer = -1, .writer_segment = -1, .reader_segment = -1};
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
}

/* What was done under the lock by now is what the waiting threads wait for. */
static void naive_signal(struct naive *n, const struct dh_event *e, int s)
{
    known *condition = &n->condition[s][lock_of(e->addr)];
    join(condition, &n->thread[s][e->thread]);
    for (int i = 0; s > 0 && i < LOCKS; i++)
        if (n->held[e->thread][i] == 2)
            join(condition, &n->lock[s][i]);
    if (s > 0 && !locks_of(n, e->thread, 1) && n->given[e->thread])
        join(condition, &n->lock[s][n->given[e->thread] - 1]);
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
        naive_signal(n, e, s);
    if (e->kind == DH_EVENT_UNLOCK && n->held[e->thread][lock_of(e->addr)] == 2) {
        join(&n->lock[s][lock_of(e->addr)], me);
        n->given[e->thread] = lock_of(e->addr) + 1;
    }
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
    n->thread[0][me].event[i] = n->thread[1][me].event[i] = n->thread[2][me].event[i] = true;
    if (plain && n->any[i])
        n->waiting[me][n->n_waiting[me]++] = i;
    else if (plain)
        n->access(n, i);
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
        for (int s = 0; s < 3; s++)
            naive_orders(n, e, s);
    if (e->kind == DH_EVENT_UNLOCK)
        n->held[me][lock_of(e->addr)] = 0;
}

static void naive_run(struct naive *n, const struct trace *t)
{
    n->t = t;
    for (int i = 0; i < UNITS; i++)
        n->unit[i] = (struct unit){.writer = -1, .writer_segment = -1, .reader_segment = -1};
    for (int i = 0; i < t->n; i++)
        naive_event(n, i);
    for (uint32_t i = 0; i < THREADS; i++)
        naive_flush(n, i);
}

/* ---- the site table of a trace ---- */

static const char site_names[] = "\0a\0b\0c\0d\0e\0f";
static const struct dh_site_table site_table = {.strings = site_names, .n_strings = sizeof site_names};

static const struct dh_site *site_at(const struct trace *t, uint32_t place, const struct dh_site_table **table)
{
    static struct dh_site s;
    if (place >= MOST || !t->site[place].line)
        return NULL;
    s = t->site[place];
    s.variable = 2 * s.variable - 1;
    *table = &site_table;
    return &s;
}

/* ---- a detector on a trace ---- */

static void feed(const struct trace *t, const struct dh_detector *d, const struct dh_run_host *host,
                 const struct dh_detector_options *o)
{
    struct dh_run_state *w = dh_run_state_new(host);
    const char *why = NULL;
    void *self = d->begin(w, o, &why);
    assert_non_null(self);
    for (int i = 0; i < t->n; i++) {
        dh_run_state_before(w, &t->e[i]);
        if (dh_event_info(t->e[i].kind)->group & d->events)
            d->event(self, &t->e[i]);
        dh_run_state_after(w, &t->e[i]);
    }
    d->end(self);
    d->release(self);
    dh_run_state_free(w);
}

static void print_trace(const struct trace *t)
{
    for (int i = 0; i < t->n; i++)
        print_message("%3d: %u %s 0x%llx %llx flags %x line %u\n", i, t->e[i].thread, dh_event_info(t->e[i].kind)->name,
                      (unsigned long long)t->e[i].addr, (unsigned long long)t->e[i].arg, t->e[i].flags,
                      t->site[i].line);
}

#endif
