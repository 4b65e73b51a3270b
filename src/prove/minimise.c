#include "prove/minimise.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "host/deadline.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

/* Dependence: decisions with a key in common, one of which changes it, keep their order. Keys are lines of memory of 64
 * bytes, synchronisation objects, threads. Where it is unknown what else a decision touches (the mutex of a wait, the
 * source of a copy), more dependence is assumed. */

enum { LINE = 64, LINES_MOST = 64, DECISIONS_MOST = 200000 };
enum space { MEMORY, OBJECT, THREAD, CLOCK, OUTSIDE, ALL };

uint32_t dh_schedule_switches(const struct dh_engine_decision *d, uint32_t n)
{
    uint32_t switches = 0;
    for (uint32_t i = 1; i < n; i++)
        switches += d[i].thread != d[i - 1].thread && !dh_engine_is_undisturbed(&d[i - 1]);
    return switches;
}

struct key_state {
    uint32_t last_change;   /* decision + 1 */
    DH_VEC(uint32_t) reads; /* since then */
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
    struct dh_u64_map keys; /* to numbers of `states` */
    DH_VEC(struct key_state) states;
    struct edges *edges;      /* per decision: those that must come before */
    DH_VEC(struct held) held; /* mutexes */
    bool *kept;
    uint32_t *after; /* per kept decision: the next of the same thread, or n */
    uint32_t *first; /* per thread */
};

static uint64_t key_of(enum space space, uint64_t what)
{
    return what << 3 | space;
}

static struct key_state *state_of(struct order *o, uint64_t key)
{
    uint32_t i = dh_u64_map_number(&o->keys, key);
    if (i == o->states.n)
        dh_vec_push(&o->states, (struct key_state){0});
    return &o->states.at[i];
}

static void touch(struct order *o, uint32_t i, uint64_t key, bool changes)
{
    struct key_state *k = state_of(o, key);
    if (k->last_change && k->last_change - 1 != i)
        dh_vec_push(&o->edges[i].before, k->last_change - 1);
    if (!changes) {
        dh_vec_push(&k->reads, i);
        return;
    }
    for (size_t l = 0; l < k->reads.n; l++)
        if (k->reads.at[l] != i)
            dh_vec_push(&o->edges[i].before, k->reads.at[l]);
    k->reads.n = 0;
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

static void unhold(struct order *o, uint32_t thread, uint64_t object)
{
    for (size_t i = o->held.n; i-- > 0;)
        if (o->held.at[i].thread == thread && o->held.at[i].object == object) {
            o->held.at[i] = o->held.at[--o->held.n];
            return;
        }
}

/* A wait releases one of the locks that its thread holds, and acquires it again. */
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
    case DH_STEP_ENTER:
    case DH_STEP_FLUSH: /* comes after the drains of its thread, as before */
        break;
    case DH_STEP_NONE:
    case DH_STEP_COPY:
    case DH_STEP_FENCE:
    case DH_STEP_FREE:
    case DH_STEP_KILL:
    case DH_STEP_DELIVER:
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
        unhold(o, d->thread, d->object);
    touch(o, i, key_of(ALL, 0), everything);
}

/* ---- which decisions are needed ---- */

static bool is_party(const struct dh_engine_found *end, uint32_t thread)
{
    for (uint32_t i = 0; i < end->n_parties && i < DH_ENGINE_PARTIES; i++)
        if (end->parties[i].thread == thread)
            return true;
    return false;
}

/* A deadlock needs all other threads to have ended; of other ends only what the parties depend on matters. */
static bool needs_all(const struct dh_engine_found *end)
{
    return end->kind == DH_ENGINE_DEADLOCK || end->kind == DH_ENGINE_LOST_WAKE || end->kind == DH_ENGINE_HANG ||
           end->n_parties == 0 || end->n_parties > DH_ENGINE_PARTIES;
}

static void keep_needed(struct order *o, const struct dh_engine_found *end)
{
    bool *needed = dh_xcalloc(o->threads, sizeof *needed);
    bool all = needs_all(end);
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

/* ---- linearisation with few switches ---- */

struct linearisation {
    bool *done;
    uint32_t *next; /* per thread: its next decision, or n */
};

static void chain_threads(struct order *o)
{
    o->after = dh_xcalloc(o->n, sizeof *o->after);
    o->first = dh_xcalloc(o->threads, sizeof *o->first);
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

/* How many decisions the thread can make before another one must run. */
static uint32_t reach(const struct order *o, struct linearisation *l, uint32_t thread)
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

/* Greedy: the thread that gets farthest. */
static uint32_t next_thread(const struct order *o, struct linearisation *l)
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
    struct linearisation l = {dh_xcalloc(o->n + 1, sizeof *l.done), dh_xcalloc(o->threads, sizeof *l.next)};
    uint32_t n = 0, t;
    memcpy(l.next, o->first, o->threads * sizeof *l.next);
    /* Of a long schedule this takes long; what there is when time is over is worth nothing. */
    while (!dh_deadline_over() && (t = next_thread(o, &l)) != UINT32_MAX)
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
    for (size_t i = 0; i < o->states.n; i++)
        dh_vec_release(&o->states.at[i].reads);
    dh_vec_release(&o->states);
    dh_u64_map_release(&o->keys);
    dh_vec_release(&o->held);
    free(o->edges);
    free(o->kept);
    free(o->after);
    free(o->first);
}

uint32_t dh_schedule_minimise(const struct dh_engine_decision *d, uint32_t n, const struct dh_engine_found *end,
                              uint32_t (*bytes_of)(void *arg, uint32_t place), void *arg,
                              struct dh_engine_decision *out)
{
    struct order o = {.d = d, .n = n, .bytes_of = bytes_of, .arg = arg};
    if (n && dh_engine_is_undisturbed(d)) { /* what came of it is given */
        out[0] = d[0];
        return 1 + dh_schedule_minimise(d + 1, n - 1, end, bytes_of, arg, out + 1);
    }
    for (uint32_t i = 0; i < n; i++)
        o.threads = d[i].thread >= o.threads ? d[i].thread + 1 : o.threads;
    if (n == 0 || n > DECISIONS_MOST || (uint64_t)o.threads * n > 100000000u) {
        memcpy(out, d, n * sizeof *d);
        return n;
    }
    o.edges = dh_xcalloc(n, sizeof *o.edges);
    o.kept = dh_xcalloc(n, sizeof *o.kept);
    for (uint32_t i = 0; i < n; i++)
        add_decision(&o, i);
    keep_needed(&o, end);
    chain_threads(&o);
    uint32_t kept = linearise(&o, out);
    if (dh_deadline_over()) {
        memcpy(out, d, n * sizeof *d);
        kept = n;
    }
    release(&o);
    return kept;
}
