/* Vector clocks with chosen edges against reachability in the graph of all events: what an object carries is a list of
 * the events that published, and one event is before another if a path leads there. */
#include "detect/happens_before.h"

#include "event/site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 160, THREADS = 6, OBJECTS = 3 };

/* ---- the oracle ---- */

struct nodes {
    int at[EVENTS * 2], n;
};

struct carried {
    struct nodes clock, readers, condition;
};

struct holding {
    int depth;
    bool shared;
};

struct graph {
    unsigned edges;
    struct nodes from[EVENTS]; /* events with an edge to this one */
    int last[THREADS];         /* of the thread, or of its creator */
    struct nodes fence_seen[THREADS];
    int fence_release[THREADS];
    struct holding held[THREADS][OBJECTS];
    struct carried objects[OBJECTS];
};

static void add(struct nodes *to, int node)
{
    if (node >= 0 && to->n < (int)(sizeof to->at / sizeof *to->at))
        to->at[to->n++] = node;
}

static void add_all(struct nodes *to, const struct nodes *from)
{
    for (int i = 0; i < from->n; i++)
        add(to, from->at[i]);
}

static bool reaches(const struct graph *g, int from, int to)
{
    bool seen[EVENTS] = {false};
    int stack[EVENTS], n = 0;
    stack[n++] = to;
    while (n) {
        int at = stack[--n];
        if (at == from)
            return true;
        for (int i = 0; i < g->from[at].n; i++) {
            int next = g->from[at].at[i];
            if (!seen[next]) {
                seen[next] = true;
                stack[n++] = next;
            }
        }
    }
    return false;
}

static bool in(unsigned order, unsigned a)
{
    return order == a || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static void graph_lock(struct graph *g, int node, const struct dh_event *e, struct carried *o)
{
    struct holding *h = &g->held[e->thread][e->addr];
    if (h->depth++)
        return;
    h->shared = e->flags & DH_EVENT_SHARED;
    add_all(&g->from[node], &o->clock);
    if (!h->shared)
        add_all(&g->from[node], &o->readers);
}

static void graph_unlock(struct graph *g, int node, const struct dh_event *e, struct carried *o)
{
    struct holding *h = &g->held[e->thread][e->addr];
    if (h->depth && --h->depth)
        return;
    bool held = e->arg; /* the generator says whether it was */
    if (held && h->shared) {
        add(&o->readers, node);
    } else {
        if (held)
            o->clock.n = o->readers.n = 0;
        add(&o->clock, node);
    }
    h->shared = false;
}

static void graph_atomic(struct graph *g, int node, const struct dh_event *e, struct carried *o)
{
    unsigned op = dh_event_atomic_op(e), order = dh_event_atomic_order(e);
    if (op != DH_OP_ATOMIC_STORE)
        add_all(in(order, DH_ORDER_ACQUIRE) ? &g->from[node] : &g->fence_seen[e->thread], &o->clock);
    if (!dh_event_atomic_wrote(e))
        return;
    if (op == DH_OP_ATOMIC_STORE)
        o->clock.n = 0;
    add(&o->clock, in(order, DH_ORDER_RELEASE) ? node : g->fence_release[e->thread]);
}

static void graph_fence(struct graph *g, int node, const struct dh_event *e)
{
    if (in((unsigned)e->arg, DH_ORDER_ACQUIRE))
        add_all(&g->from[node], &g->fence_seen[e->thread]);
    if (in((unsigned)e->arg, DH_ORDER_RELEASE))
        g->fence_release[e->thread] = node;
}

static void graph_order(struct graph *g, int node, const struct dh_event *e, struct carried *o)
{
    if (e->kind == DH_EVENT_ACQUIRE || e->kind == DH_EVENT_ACQUIRE_RELEASE)
        add_all(&g->from[node], &o->clock);
    if (e->kind == DH_EVENT_RELEASE)
        o->clock.n = 0;
    if (e->kind != DH_EVENT_ACQUIRE)
        add(&o->clock, node);
}

static unsigned edges_of(const struct dh_event *e)
{
    unsigned group = dh_event_info(e->kind)->group;
    return group == DH_EVENTS_LOCK        ? DH_EDGES_LOCKS
           : group == DH_EVENTS_CONDITION ? DH_EDGES_CONDITIONS
           : group == DH_EVENTS_ATOMIC    ? DH_EDGES_ATOMICS
           : group == DH_EVENTS_THREAD    ? DH_EDGES_THREADS
           : group == DH_EVENTS_ORDER     ? DH_EDGES_OTHERS
                                          : 0;
}

static void graph_event(struct graph *g, int node, const struct dh_event *e)
{
    struct carried *o = &g->objects[e->addr % OBJECTS];
    add(&g->from[node], g->last[e->thread]);
    g->last[e->thread] = node;
    if (e->kind == DH_EVENT_FORGET)
        *o = (struct carried){0};
    else if (!(edges_of(e) & g->edges))
        return;
    else if (e->kind == DH_EVENT_LOCK)
        graph_lock(g, node, e, o);
    else if (e->kind == DH_EVENT_UNLOCK)
        graph_unlock(g, node, e, o);
    else if (e->kind == DH_EVENT_ATOMIC)
        graph_atomic(g, node, e, o);
    else if (e->kind == DH_EVENT_FENCE)
        graph_fence(g, node, e);
    else if (e->kind == DH_EVENT_COND_WOKEN && !(e->flags & DH_EVENT_TIMED))
        add_all(&g->from[node], &o->condition);
    else if (e->kind == DH_EVENT_COND_SIGNAL || e->kind == DH_EVENT_COND_BROADCAST)
        add(&o->condition, node);
    else if (e->kind == DH_EVENT_THREAD_CREATE)
        g->last[e->arg] = node;
    else if (e->kind == DH_EVENT_THREAD_JOIN)
        add(&g->from[node], g->last[e->arg]);
    else if (edges_of(e) == DH_EDGES_OTHERS)
        graph_order(g, node, e, o);
}

/* ---- random streams ---- */

static uint32_t seed;
static unsigned random_below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 16) % n;
}

struct making {
    bool made[THREADS], gone[THREADS];
    struct holding held[THREADS][OBJECTS];
};

static bool may_lock(const struct making *m, unsigned t, unsigned lock, bool shared)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (i != t && m->held[i][lock].depth && !(shared && m->held[i][lock].shared))
            return false;
    const struct holding *mine = &m->held[t][lock];
    return !mine->depth || mine->shared == shared;
}

static bool make_lock(struct making *m, struct dh_event *e)
{
    bool shared = random_below(3) == 0;
    if (!may_lock(m, e->thread, (unsigned)e->addr, shared))
        return false;
    struct holding *h = &m->held[e->thread][e->addr];
    h->depth++;
    h->shared = shared;
    e->flags = shared ? DH_EVENT_SHARED : 0;
    return true;
}

static bool make_unlock(struct making *m, struct dh_event *e)
{
    struct holding *h = &m->held[e->thread][e->addr];
    if (!h->depth && random_below(8))
        return false;
    e->arg = h->depth != 0;
    h->depth -= h->depth != 0;
    return true;
}

static bool make_thread(struct making *m, struct dh_event *e)
{
    e->arg = random_below(THREADS);
    if (e->arg == e->thread || m->gone[e->arg] || m->made[e->arg] != (e->kind == DH_EVENT_THREAD_JOIN) || !e->arg)
        return false;
    if (e->kind == DH_EVENT_THREAD_CREATE)
        return m->made[e->arg] = true;
    for (unsigned i = 0; i < OBJECTS; i++)
        if (m->held[e->arg][i].depth)
            return false;
    return m->gone[e->arg] = true;
}

static void make_atomic(struct dh_event *e)
{
    static const uint8_t ops[] = {DH_OP_ATOMIC_LOAD, DH_OP_ATOMIC_STORE, DH_OP_ATOMIC_RMW, DH_OP_ATOMIC_CAS};
    static const uint8_t orders[4][4] = {{DH_ORDER_RELAXED, DH_ORDER_ACQUIRE, DH_ORDER_SEQ_CST, DH_ORDER_RELAXED},
                                         {DH_ORDER_RELAXED, DH_ORDER_RELEASE, DH_ORDER_SEQ_CST, DH_ORDER_RELAXED},
                                         {DH_ORDER_RELAXED, DH_ORDER_ACQUIRE, DH_ORDER_RELEASE, DH_ORDER_ACQ_REL},
                                         {DH_ORDER_RELAXED, DH_ORDER_ACQUIRE, DH_ORDER_RELAXED, DH_ORDER_SEQ_CST}};
    unsigned op = random_below(4);
    bool wrote = op == 1 || op == 2 || (op == 3 && random_below(2));
    e->arg = ops[op] | orders[op][random_below(4)] << 8 | 4 << 16 | (uint64_t)wrote << 32;
}

/* False: that cannot happen now. */
static bool make_event(struct making *m, struct dh_event *e)
{
    static const uint8_t kinds[] = {DH_EVENT_WRITE,         DH_EVENT_READ,         DH_EVENT_ATOMIC,
                                    DH_EVENT_ATOMIC,        DH_EVENT_ATOMIC,       DH_EVENT_FENCE,
                                    DH_EVENT_LOCK,          DH_EVENT_UNLOCK,       DH_EVENT_LOCK,
                                    DH_EVENT_UNLOCK,        DH_EVENT_ACQUIRE,      DH_EVENT_RELEASE,
                                    DH_EVENT_RELEASE_JOIN,  DH_EVENT_FORGET,       DH_EVENT_ACQUIRE_RELEASE,
                                    DH_EVENT_COND_WOKEN,    DH_EVENT_COND_SIGNAL,  DH_EVENT_THREAD_JOIN,
                                    DH_EVENT_THREAD_CREATE, DH_EVENT_THREAD_CREATE};
    *e = (struct dh_event){.kind = kinds[random_below(sizeof kinds)],
                           .thread = random_below(THREADS),
                           .addr = random_below(OBJECTS),
                           .site = DH_NO_PLACE};
    if (!m->made[e->thread] || m->gone[e->thread])
        return false;
    switch (e->kind) {
    case DH_EVENT_LOCK:
        return make_lock(m, e);
    case DH_EVENT_UNLOCK:
        return make_unlock(m, e);
    case DH_EVENT_THREAD_CREATE:
    case DH_EVENT_THREAD_JOIN:
        return make_thread(m, e);
    case DH_EVENT_ATOMIC:
        make_atomic(e);
        return true;
    case DH_EVENT_FENCE:
        e->arg = random_below(4) + DH_ORDER_ACQUIRE;
        return true;
    case DH_EVENT_COND_WOKEN:
        e->flags = random_below(4) ? 0 : DH_EVENT_TIMED;
        return true;
    case DH_EVENT_FORGET:
        return random_below(4) == 0;
    default:
        return true;
    }
}

/* ---- both together ---- */

struct moment {
    uint32_t thread, time;
    int node;
};

/* Thread indices are spread and addresses shifted, so that tables are not filled in the friendliest way. */
static struct dh_event as_told(const struct dh_event *e)
{
    struct dh_event told = *e;
    bool other = e->kind == DH_EVENT_THREAD_CREATE || e->kind == DH_EVENT_THREAD_JOIN;
    told.thread = e->thread * 3;
    told.addr = 0x7f0000000000u + e->addr * 24;
    told.arg = other ? e->arg * 3 : e->kind == DH_EVENT_UNLOCK ? 0 : e->arg;
    return told;
}

static size_t one_stream(uint32_t number, unsigned edges)
{
    static struct graph g;
    struct making m = {.made = {true}};
    struct moment moments[EVENTS];
    size_t n_moments = 0, ordered = 0;
    struct dh_happens *h = dh_happens_new(edges);
    memset(&g, 0, sizeof g);
    memset(g.last, -1, sizeof g.last);
    memset(g.fence_release, -1, sizeof g.fence_release);
    g.edges = edges;
    seed = number * 2654435761u + edges;
    for (int node = 0; node < EVENTS; node++) {
        struct dh_event e, told;
        while (!make_event(&m, &e))
            ;
        told = as_told(&e);
        graph_event(&g, node, &e);
        dh_happens_event(h, &told);
        if (!dh_event_is_access(&e))
            continue;
        for (size_t i = 0; i < n_moments; i++) {
            bool before = dh_happens_before(h, moments[i].thread, moments[i].time, told.thread);
            if (before != reaches(&g, moments[i].node, node))
                fail_msg("stream %u, edges %x: event %d is %sbefore event %d", number, edges, moments[i].node,
                         before ? "not " : "", node);
            ordered += before;
        }
        moments[n_moments++] = (struct moment){told.thread, dh_happens_time(h, told.thread), node};
    }
    dh_happens_free(h);
    return ordered;
}

static void like_reachability(void **state)
{
    (void)state;
    static const unsigned sets[] = {DH_EDGES_ALL, DH_EDGES_WITHOUT_LOCKS, DH_EDGES_THREADS, DH_EDGES_ATOMICS,
                                    DH_EDGES_LOCKS | DH_EDGES_THREADS};
    size_t ordered = 0;
    for (uint32_t i = 0; i < 4000; i++)
        ordered += one_stream(i, sets[i % 5]);
    assert_true(ordered > 1000);
}

/* A thousand threads one after the other need one more column, and what the first did stays known. */
static void columns_go_on(void **state)
{
    (void)state;
    struct dh_happens *h = dh_happens_new(DH_EDGES_ALL);
    uint32_t first = 0;
    for (uint32_t i = 1; i <= 1000; i++) {
        struct dh_event create = {.kind = DH_EVENT_THREAD_CREATE, .arg = i};
        struct dh_event join = {.kind = DH_EVENT_THREAD_JOIN, .arg = i};
        dh_happens_event(h, &create);
        if (i == 1)
            first = dh_happens_time(h, 1);
        else
            assert_true(dh_happens_before(h, 1, first, i));
        assert_false(dh_happens_before(h, i, dh_happens_time(h, i), 0));
        dh_happens_event(h, &join);
        assert_true(dh_happens_before(h, i, dh_happens_time(h, i), 0));
    }
    dh_happens_free(h);
}

static void numbers_are_not_trusted(void **state)
{
    (void)state;
    struct dh_happens *h = dh_happens_new(~0u);
    for (unsigned kind = 0; kind < 256; kind++) {
        struct dh_event e = {.kind = (uint8_t)kind, .thread = kind % 3 ? 1 : UINT32_MAX, .arg = UINT64_MAX, .addr = 5};
        dh_happens_event(h, &e);
        e.arg = 1; /* itself */
        dh_happens_event(h, &e);
    }
    assert_int_equal(dh_happens_time(h, UINT32_MAX), 0);
    assert_false(dh_happens_before(h, 7, 1, 1));
    dh_happens_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_reachability), cmocka_unit_test(columns_go_on),
                                       cmocka_unit_test(numbers_are_not_trusted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
