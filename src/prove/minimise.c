#include "prove/minimise.h"

#include "base/vec.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

/* What decisions have in common is a key: memory by lines of 64 bytes, synchronisation by object, threads by index.
 * Of two decisions with one key, one of which changes it, the order counts. Where it is not known what else a decision
 * touches (the mutex of a wait, the source of a copy), more is taken than there may be. */

enum { LINE = 64, LINES_MOST = 64, DECISIONS_MOST = 200000 };
enum space { MEMORY, OBJECT, THREAD, CLOCK, OUTSIDE, ALL };

uint32_t dh_schedule_switches(const struct dh_engine_decision *d, uint32_t n)
{
    uint32_t switches = 0;
    for (uint32_t i = 1; i < n; i++)
        switches += d[i].thread != d[i - 1].thread;
    return switches;
}

struct key_state {
    uint64_t key;
    bool used;
    uint32_t last_change;   /* decision + 1 */
    DH_VEC(uint32_t) looks; /* since then */
};

struct edges {
    DH_VEC(uint32_t) before;
};

struct held {
    uint32_t thread;
    uint64_t object;
};

struct order {
    const struct dh_engine_decision *d;
    uint32_t n;
    uint32_t threads;
    uint32_t (*bytes_of)(void *arg, uint32_t place);
    void *arg;
    struct key_state *keys; /* open addressing */
    size_t cap, used;
    struct edges *edges;      /* per decision: those that must come before */
    DH_VEC(struct held) held; /* mutexes */
    bool *kept;
    uint32_t *after; /* per kept decision: the next of the same thread, or n */
    uint32_t *first; /* per thread */
};

static uint64_t key_of(enum space space, uint64_t what)
{
    return (what << 3 | space) * 0x9e3779b97f4a7c15u;
}

static struct key_state *state_of(struct order *o, uint64_t key);

static void grow(struct order *o)
{
    struct key_state *old = o->keys;
    size_t n = o->cap;
    o->cap = n ? 2 * n : 256;
    o->keys = calloc(o->cap, sizeof *o->keys);
    if (!o->keys)
        abort();
    o->used = 0;
    for (size_t i = 0; i < n; i++)
        if (old[i].used)
            *state_of(o, old[i].key) = old[i];
    free(old);
}

static struct key_state *state_of(struct order *o, uint64_t key)
{
    if (2 * o->used >= o->cap)
        grow(o);
    size_t i = (key >> 20) & (o->cap - 1);
    while (o->keys[i].used && o->keys[i].key != key)
        i = (i + 1) & (o->cap - 1);
    if (!o->keys[i].used) {
        o->keys[i].used = true;
        o->keys[i].key = key;
        o->used++;
    }
    return &o->keys[i];
}

static void touch(struct order *o, uint32_t i, uint64_t key, bool changes)
{
    struct key_state *k = state_of(o, key);
    if (k->last_change && k->last_change - 1 != i)
        dh_vec_push(&o->edges[i].before, k->last_change - 1);
    if (!changes) {
        dh_vec_push(&k->looks, i);
        return;
    }
    for (size_t l = 0; l < k->looks.n; l++)
        if (k->looks.at[l] != i)
            dh_vec_push(&o->edges[i].before, k->looks.at[l]);
    k->looks.n = 0;
    k->last_change = i + 1;
}

static void touch_memory(struct order *o, uint32_t i, bool changes)
{
    const struct dh_engine_decision *d = &o->d[i];
    uint32_t bytes = o->bytes_of(o->arg, d->place);
    uint64_t from = d->object / LINE, to = (d->object + (bytes ? bytes : 1) - 1) / LINE;
    if (!bytes || to - from >= LINES_MOST) {
        touch(o, i, key_of(ALL, 0), true);
        return;
    }
    for (uint64_t line = from; line <= to; line++)
        touch(o, i, key_of(MEMORY, line), changes);
}

static void hold(struct order *o, uint32_t thread, uint64_t object)
{
    struct held h = {thread, object};
    dh_vec_push(&o->held, h);
}

static void let_go(struct order *o, uint32_t thread, uint64_t object)
{
    for (size_t i = o->held.n; i-- > 0;)
        if (o->held.at[i].thread == thread && o->held.at[i].object == object) {
            o->held.at[i] = o->held.at[--o->held.n];
            return;
        }
}

/* A wait gives up one of the locks that its thread holds, and takes it again. */
static void touch_held(struct order *o, uint32_t i)
{
    for (size_t h = 0; h < o->held.n; h++)
        if (o->held.at[h].thread == o->d[i].thread)
            touch(o, i, key_of(OBJECT, o->held.at[h].object), true);
}

static void add_decision(struct order *o, uint32_t i)
{
    const struct dh_engine_decision *d = &o->d[i];
    bool everything = d->flags & DH_STEP_RANGE;
    if (d->flags & DH_STEP_TIMED)
        touch(o, i, key_of(CLOCK, 0), true);
    switch (d->kind) {
    case DH_STEP_READ:
    case DH_STEP_WRITE:
    case DH_STEP_RMW:
    case DH_STEP_DRAIN:
        touch_memory(o, i, d->kind != DH_STEP_READ);
        break;
    case DH_STEP_CREATE:
    case DH_STEP_JOIN:
    case DH_STEP_CANCEL:
    case DH_STEP_KILL:
        touch(o, i, key_of(THREAD, d->object), true);
        break;
    case DH_STEP_BEGIN:
    case DH_STEP_END:
        touch(o, i, key_of(THREAD, d->thread), true);
        break;
    case DH_STEP_SLEEP:
        touch(o, i, key_of(CLOCK, 0), true);
        break;
    case DH_STEP_IO:
        touch(o, i, key_of(OUTSIDE, 0), true);
        break;
    case DH_STEP_YIELD:
    case DH_STEP_FLUSH: /* comes after the drains of its thread, as before */
        break;
    case DH_STEP_NONE:
    case DH_STEP_COPY:
    case DH_STEP_FENCE:
    case DH_STEP_FREE:
        everything = true;
        break;
    case DH_STEP_WAIT:
    case DH_STEP_WAKE:
        touch_held(o, i);
        touch(o, i, key_of(OBJECT, d->object), true);
        break;
    default:
        touch(o, i, key_of(OBJECT, d->object), true);
    }
    if (d->kind == DH_STEP_LOCK)
        hold(o, d->thread, d->object);
    if (d->kind == DH_STEP_UNLOCK)
        let_go(o, d->thread, d->object);
    touch(o, i, key_of(ALL, 0), everything);
}

/* ---- what is needed ---- */

static bool is_party(const struct dh_engine_found *end, uint32_t thread)
{
    for (uint32_t i = 0; i < end->n_parties && i < DH_ENGINE_PARTIES; i++)
        if (end->parties[i].thread == thread)
            return true;
    return false;
}

/* A deadlock is one only when everybody else has ended; of the others only what the parties come from matters. */
static bool needs_all(const struct dh_engine_found *end)
{
    return end->kind == DH_ENGINE_DEADLOCK || end->kind == DH_ENGINE_LOST_WAKE || end->kind == DH_ENGINE_HANG ||
           end->n_parties == 0 || end->n_parties > DH_ENGINE_PARTIES;
}

static void keep_needed(struct order *o, const struct dh_engine_found *end)
{
    bool *needed = calloc(o->threads, sizeof *needed);
    bool all = needs_all(end);
    if (!needed)
        abort();
    for (uint32_t i = o->n; i-- > 0;) {
        const struct dh_engine_decision *d = &o->d[i];
        o->kept[i] = o->kept[i] || all || needed[d->thread] || is_party(end, d->thread);
        if (!o->kept[i])
            continue;
        needed[d->thread] = true; /* what the thread did before */
        for (size_t e = 0; e < o->edges[i].before.n; e++)
            o->kept[o->edges[i].before.at[e]] = true;
    }
    free(needed);
}

/* ---- in which order ---- */

struct line {
    bool *done;
    uint32_t *next; /* per thread: its next decision, or n */
};

static void chain_threads(struct order *o)
{
    o->after = calloc(o->n, sizeof *o->after);
    o->first = calloc(o->threads, sizeof *o->first);
    if (!o->after || !o->first)
        abort();
    for (uint32_t t = 0; t < o->threads; t++)
        o->first[t] = o->n;
    for (uint32_t i = o->n; i-- > 0;)
        if (o->kept[i]) {
            o->after[i] = o->first[o->d[i].thread];
            o->first[o->d[i].thread] = i;
        }
}

static bool is_ready(const struct order *o, const bool *done, uint32_t i)
{
    if (i >= o->n)
        return false;
    for (size_t e = 0; e < o->edges[i].before.n; e++)
        if (!done[o->edges[i].before.at[e]])
            return false;
    return true;
}

/* How far the thread gets by itself. */
static uint32_t reach(const struct order *o, struct line *l, uint32_t thread)
{
    uint32_t length = 0;
    DH_VEC(uint32_t) tried = {0};
    for (uint32_t i = l->next[thread]; is_ready(o, l->done, i); i = o->after[i]) {
        l->done[i] = true;
        dh_vec_push(&tried, i);
        length++;
    }
    for (size_t i = 0; i < tried.n; i++)
        l->done[tried.at[i]] = false;
    dh_vec_release(&tried);
    return length;
}

/* Whoever gets farthest goes next. */
static uint32_t whose_turn(const struct order *o, struct line *l)
{
    uint32_t best = UINT32_MAX, farthest = 0;
    for (uint32_t t = 0; t < o->threads; t++) {
        uint32_t length = reach(o, l, t);
        if (length > farthest) {
            farthest = length;
            best = t;
        }
    }
    return best;
}

static uint32_t linearise(const struct order *o, struct dh_engine_decision *out)
{
    struct line l = {calloc(o->n + 1, sizeof *l.done), calloc(o->threads, sizeof *l.next)};
    uint32_t n = 0, t;
    if (!l.done || !l.next)
        abort();
    memcpy(l.next, o->first, o->threads * sizeof *l.next);
    while ((t = whose_turn(o, &l)) != UINT32_MAX)
        while (is_ready(o, l.done, l.next[t])) {
            l.done[l.next[t]] = true;
            out[n++] = o->d[l.next[t]];
            l.next[t] = o->after[l.next[t]];
        }
    free(l.done);
    free(l.next);
    return n;
}

static void release(struct order *o)
{
    for (uint32_t i = 0; i < o->n; i++)
        dh_vec_release(&o->edges[i].before);
    for (size_t i = 0; i < o->cap; i++)
        dh_vec_release(&o->keys[i].looks);
    dh_vec_release(&o->held);
    free(o->edges);
    free(o->keys);
    free(o->kept);
    free(o->after);
    free(o->first);
}

uint32_t dh_schedule_minimise(const struct dh_engine_decision *d, uint32_t n, const struct dh_engine_found *end,
                              uint32_t (*bytes_of)(void *arg, uint32_t place), void *arg,
                              struct dh_engine_decision *out)
{
    struct order o = {.d = d, .n = n, .bytes_of = bytes_of, .arg = arg};
    for (uint32_t i = 0; i < n; i++)
        o.threads = d[i].thread >= o.threads ? d[i].thread + 1 : o.threads;
    if (n == 0 || n > DECISIONS_MOST || (uint64_t)o.threads * n > 100000000u) {
        memcpy(out, d, n * sizeof *d);
        return n;
    }
    o.edges = calloc(n, sizeof *o.edges);
    o.kept = calloc(n, sizeof *o.kept);
    if (!o.edges || !o.kept)
        abort();
    for (uint32_t i = 0; i < n; i++)
        add_decision(&o, i);
    keep_needed(&o, end);
    chain_threads(&o);
    uint32_t kept = linearise(&o, out);
    release(&o);
    return kept;
}
