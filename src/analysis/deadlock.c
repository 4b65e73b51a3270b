/* The lock order graph and its cycles; waits that hold what the signaller needs. */
#include "analysis/deadlock.h"

#include "analysis/lock_pair_order.h"
#include "analysis/may_happen_in_parallel.h"
#include "analysis/self_deadlock.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 1000000, MOST_ALIKE = 3, MOST_ORIGINS = 2, MOST_OF_PATH = 32 };

/* One lock requested while another is held. */
struct request {
    uint32_t event;
    uint32_t held; /* in symex.held */
    int sign;      /* of dh_lock_pair_order, when both locks are of one kind */
};

/* The lock order graph: its nodes are kinds of locks, its edges lead from a kind that is held to one that is requested,
 * with all requests of it. */
struct edge {
    uint32_t to;       /* kind, DH_NONE: no thread holds one and requests another */
    uint32_t first, n; /* in requests */
    size_t follows;    /* in follows: an answer for each edge from `to` */
};

/* Whether some requests of two consecutive edges can wait at the same time. */
enum follows { NOT_ASKED, FOLLOWS, NEVER_FOLLOWS };

struct lock_node {
    uint32_t request;  /* the first that holds it */
    uint32_t first, n; /* in edges */
};

struct search {
    const struct dh_symex *w;
    struct dh_deadlocks *out;
    struct dh_lock_pair_order pairs;
    DH_VEC(struct request) requests; /* by the lock that is held, then by the one requested */
    DH_VEC(struct lock_node) nodes;
    DH_VEC(struct edge) edges;
    DH_VEC(uint8_t) follows;
    uint32_t path[DH_DEADLOCK_LONGEST];  /* nodes, each an edge from the one before */
    uint32_t route[DH_DEADLOCK_LONGEST]; /* the edges */
    uint32_t chain[DH_DEADLOCK_LONGEST]; /* a request of each edge */
    DH_VEC(uint32_t) waits;              /* events seen before */
    DH_VEC(uint32_t) signals, wants;     /* events */
    uint32_t length;                     /* of the cycles that are looked for now */
    size_t before;                       /* deadlocks found before those of the nodes in `path` */
    uint64_t tries;
};

static const struct dh_symex_lock *wanted(const struct search *s, const struct request *r)
{
    return &s->w->held.at[s->w->events.at[r->event].second];
}

static const struct dh_symex_lock *held(const struct search *s, const struct request *r)
{
    return &s->w->held.at[r->held];
}

static bool same_node(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return a->node == b->node && a->offset == b->offset;
}

/* Certainly the same lock at run time. */
static bool same_lock(const struct dh_symex *w, const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return same_node(a, b) && dh_symex_is_unique(w, a->node) && !a->element && !b->element;
}

/* The same within one event: also when the same value leads to both. */
static bool is_reacquired(const struct dh_symex *w, const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return same_lock(w, a, b) || (same_node(a, b) && a->expr && a->expr == b->expr && a->index == b->index);
}

/* ---- requests ---- */
static bool is_request(const struct dh_symex_event *e)
{
    return e->kind == DH_SYMEX_LOCK && e->second != DH_NONE && !(e->flags & (DH_SYMEX_TRY | DH_SYMEX_IGNORED));
}

/* A lock that the thread has already is not waited for. */
static bool holds_already(const struct search *s, const struct dh_symex_event *e)
{
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    for (uint32_t k = 0; k < l->n; k++)
        if (is_reacquired(s->w, &s->w->held.at[l->first + k], &s->w->held.at[e->second]))
            return true;
    return false;
}

/* A node that stands for objects of several kinds says nothing about the order of locks in them: what was unified is
 * acquired before and after everything. */
static bool is_precise(const struct search *s, const struct dh_symex_lock *h)
{
    const struct dh_heap_graph *g = &s->w->points_to->graph;
    if (h->node >= g->nodes.n)
        return false;
    const struct dh_heap_node *n = &g->nodes.at[h->node];
    uint32_t first = n->origin, at = first, origins = 0;
    if (n->flags & DH_NODE_COLLAPSED || first == DH_NO_NODE)
        return false;
    do {
        origins++;
        at = g->origins.at[at].next;
    } while (at != first && origins <= MOST_ORIGINS);
    return origins <= MOST_ORIGINS;
}

static void add_requests(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    if (!is_request(e) || !l->n || !is_precise(s, &s->w->held.at[e->second]) || holds_already(s, e))
        return;
    for (uint32_t k = 0; k < l->n; k++) {
        struct request r = {.event = event, .held = l->first + k};
        if (is_precise(s, held(s, &r)))
            dh_vec_push(&s->requests, r);
    }
}

static const struct search *sorting;

static int compare_nodes(const struct dh_symex_lock *x, const struct dh_symex_lock *y)
{
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : 0;
}

/* One place with one pair of locks. */
static int compare_alike(const struct request *a, const struct request *b)
{
    uint32_t x = sorting->w->events.at[a->event].inst, y = sorting->w->events.at[b->event].inst;
    int c = compare_nodes(held(sorting, a), held(sorting, b));
    c = c ? c : compare_nodes(wanted(sorting, a), wanted(sorting, b));
    return c ? c : x != y ? (x < y ? -1 : 1) : 0;
}

/* Of those the most dangerous first: by threads of which there are many, under the fewest locks. */
static int by_held(const void *a, const void *b)
{
    const struct dh_symex *w = sorting->w;
    const struct dh_symex_event *x = &w->events.at[((const struct request *)a)->event],
                                *y = &w->events.at[((const struct request *)b)->event];
    int c = compare_alike(a, b);
    bool one = w->threads.at[x->thread].unique, other = w->threads.at[y->thread].unique;
    uint32_t m = w->locksets.at[x->lockset].n, n = w->locksets.at[y->lockset].n;
    if (c || one != other)
        return c ? c : one ? 1 : -1;
    if (m != n)
        return m < n ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Contexts and threads make many requests that differ little: of each place a few are enough, of different threads. */
static void sort_requests(struct search *s)
{
    size_t kept = 0, alike = 0;
    sorting = s;
    if (s->requests.n)
        qsort(s->requests.at, s->requests.n, sizeof *s->requests.at, by_held);
    for (size_t i = 0; i < s->requests.n; i++) {
        const struct request *last = kept ? &s->requests.at[kept - 1] : NULL, *r = &s->requests.at[i];
        bool same = last && compare_alike(last, r) == 0;
        alike = same ? alike : 0;
        if (same && (alike == MOST_ALIKE || s->w->events.at[last->event].thread == s->w->events.at[r->event].thread))
            continue;
        alike++;
        s->requests.at[kept++] = *r;
    }
    s->requests.n = kept;
    sorting = NULL;
}

/* ---- the lock order graph ---- */
static uint32_t node_of(const struct search *s, const struct dh_symex_lock *lock)
{
    uint32_t low = 0, high = (uint32_t)s->nodes.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (compare_nodes(held(s, &s->requests.at[s->nodes.at[middle].request]), lock) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < s->nodes.n && same_node(held(s, &s->requests.at[s->nodes.at[low].request]), lock);
    return found ? low : DH_NONE;
}

/* Requests are sorted by the lock held, then by the one requested: nodes and edges are ranges of them. A lock that no
 * thread holds while it requests another is in no cycle: it is no node. */
static void find_edges(struct search *s)
{
    for (uint32_t i = 0; i < s->requests.n; i++)
        if (!i || !same_node(held(s, &s->requests.at[i - 1]), held(s, &s->requests.at[i])))
            dh_vec_push(&s->nodes, (struct lock_node){.request = i});
    for (uint32_t i = 0, node = 0; i < s->requests.n; i++) {
        const struct request *r = &s->requests.at[i];
        node += node + 1 < s->nodes.n && i >= s->nodes.at[node + 1].request;
        struct lock_node *k = &s->nodes.at[node];
        if (!k->n || !same_node(wanted(s, r), wanted(s, r - 1))) {
            k->first = k->n ? k->first : (uint32_t)s->edges.n;
            k->n++;
            dh_vec_push(&s->edges, (struct edge){.to = node_of(s, wanted(s, r)), .first = i});
        }
        s->edges.at[s->edges.n - 1].n++;
    }
    for (size_t t = 0; t < s->edges.n; t++) {
        struct edge *from = &s->edges.at[t];
        from->follows = s->follows.n;
        for (uint32_t n = 0; from->to != DH_NONE && n < s->nodes.at[from->to].n; n++)
            dh_vec_push(&s->follows, (uint8_t)NOT_ASKED);
    }
}

static void find_orders(struct search *s)
{
    for (size_t i = 0; i < s->requests.n; i++) {
        struct request *r = &s->requests.at[i];
        const struct request *last = i ? r - 1 : NULL;
        uint32_t inst = s->w->events.at[r->event].inst;
        if (!same_node(held(s, r), wanted(s, r)))
            continue;
        bool known = last && same_node(held(s, last), wanted(s, last)) && held(s, last)->inst == held(s, r)->inst &&
                     s->w->events.at[last->event].inst == inst;
        r->sign = known ? last->sign : dh_lock_pair_order(&s->pairs, held(s, r)->inst, inst);
    }
}

/* ---- cycles ---- */
/* A lock that both hold, and one of them alone, lets only one of them be there. */
static bool has_gate_lock(const struct search *s, const struct request *a, const struct request *b)
{
    const struct dh_symex *w = s->w;
    const struct dh_lockset *x = &w->locksets.at[w->events.at[a->event].lockset],
                            *y = &w->locksets.at[w->events.at[b->event].lockset];
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < y->n; k++) {
            const struct dh_symex_lock *g = &w->held.at[x->first + i], *h = &w->held.at[y->first + k];
            if (same_lock(w, g, h) && !(g->mode && h->mode))
                return true;
        }
    return false;
}

static bool blocks(const struct search *s, const struct request *waits, const struct request *holds)
{
    const struct dh_symex_lock *want = wanted(s, waits), *have = held(s, holds);
    return same_node(want, have) && !(want->mode && have->mode);
}

static bool can_coincide(const struct search *s, const struct request *a, const struct request *b)
{
    const struct dh_symex_event *x = &s->w->events.at[a->event], *y = &s->w->events.at[b->event];
    return dh_may_happen_in_parallel(s->w, x, y) && !has_gate_lock(s, a, b);
}

/* Locks of different objects that one function acquires: by the order in which it always acquires them. */
static bool is_ordered_by_one(struct search *s, uint32_t n)
{
    const struct dh_program *p = s->w->program;
    int sign = 0;
    uint32_t function = DH_NONE;
    for (uint32_t k = 0; k < n; k++) {
        const struct request *r = &s->requests.at[s->chain[k]];
        uint32_t inst = s->w->events.at[r->event].inst;
        uint32_t in = p->blocks.at[dh_program_block_of(p, inst)].function;
        int one = function == DH_NONE || in == function ? dh_lock_pair_order(&s->pairs, held(s, r)->inst, inst) : 0;
        if (!one || (sign && one != sign))
            return false;
        sign = one;
        function = in;
    }
    return true;
}

/* All are of one kind and all keep the same order. */
static bool is_ordered(const struct search *s, uint32_t n)
{
    int sign = s->requests.at[s->chain[0]].sign;
    for (uint32_t k = 0; k < n; k++) {
        const struct request *r = &s->requests.at[s->chain[k]];
        if (!r->sign || r->sign != sign || !same_node(held(s, r), wanted(s, r)))
            return false;
    }
    return true;
}

/* The same places found in another context, or the cycle from another node. */
static bool is_known(const struct search *s, uint32_t n)
{
    const struct dh_symex *w = s->w;
    for (size_t i = 0; i < s->out->all.n; i++) {
        const struct dh_deadlock *d = &s->out->all.at[i];
        if (d->kind != DH_DEADLOCK_MUTUAL || d->n != n)
            continue;
        uint32_t found = 0;
        for (uint32_t k = 0; k < n; k++)
            for (uint32_t m = 0; m < n; m++)
                if (w->events.at[d->events[m]].inst == w->events.at[s->requests.at[s->chain[k]].event].inst) {
                    found++;
                    break;
                }
        if (found == n)
            return true;
    }
    return false;
}

static bool is_on_path(const struct search *s, uint32_t n, const struct dh_symex_lock *lock)
{
    for (uint32_t k = 0; k < n; k++)
        if (same_node(held(s, &s->requests.at[s->nodes.at[s->path[k]].request]), lock))
            return true;
    return false;
}

/* Among these nodes there is a shorter cycle: a longer one says no more. */
static bool has_shorter(const struct search *s, uint32_t n)
{
    for (size_t i = 0; i < s->out->all.n; i++) {
        const struct dh_deadlock *d = &s->out->all.at[i];
        bool inside = d->n < s->length;
        for (uint32_t k = 0; k < d->n && inside; k++)
            inside = is_on_path(s, n, &s->w->held.at[s->w->events.at[d->events[k]].second]);
        if (inside)
            return true;
    }
    return false;
}

static void add_cycle(struct search *s)
{
    struct dh_deadlock d = {.kind = DH_DEADLOCK_MUTUAL, .n = s->length};
    if (is_ordered(s, s->length) || is_known(s, s->length) || is_ordered_by_one(s, s->length))
        return;
    for (uint32_t k = 0; k < s->length; k++)
        d.events[k] = s->requests.at[s->chain[k]].event;
    dh_vec_push(&s->out->all, d);
}

static bool extends_chain(struct search *s, uint32_t n, uint32_t request)
{
    const struct request *r = &s->requests.at[request];
    bool fits = !n || blocks(s, &s->requests.at[s->chain[n - 1]], r);
    fits = fits && (n + 1 < s->length || blocks(s, r, n ? &s->requests.at[s->chain[0]] : r));
    s->tries++;
    for (uint32_t k = 0; k < n && fits; k++)
        fits = can_coincide(s, &s->requests.at[s->chain[k]], r);
    return fits;
}

/* A request for each edge of the route from the n-th on, such that all can wait at the same time. */
static void choose_requests(struct search *s, uint32_t n)
{
    if (n == s->length) {
        add_cycle(s);
        return;
    }
    const struct edge *t = &s->edges.at[s->route[n]];
    bool again = n && s->route[n] == s->route[n - 1]; /* the other one of two of one kind: each pair once */
    for (uint32_t i = again ? s->chain[n - 1] : t->first; i < t->first + t->n; i++) {
        if (s->out->all.n - s->before >= MOST_OF_PATH || s->tries > MOST_TRIES)
            break;
        if (!extends_chain(s, n, i))
            continue;
        s->chain[n] = i;
        choose_requests(s, n + 1);
    }
}

/* Whether the path may go on to that node: its first one is the least, so that each cycle is found once. No node comes
 * twice, since such a cycle contains a shorter one; but two locks of one kind are a cycle of length two. */
static bool may_go_on(const struct search *s, uint32_t n, uint32_t to)
{
    if (to == DH_NONE || to < s->path[0])
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (s->path[k] == to)
            return s->length == 2;
    return true;
}

static bool edges_coincide(struct search *s, const struct edge *a, const struct edge *b)
{
    for (uint32_t i = a->first; i < a->first + a->n; i++)
        for (uint32_t k = b->first; k < b->first + b->n; k++) {
            const struct request *one = &s->requests.at[i], *other = &s->requests.at[k];
            s->tries++;
            if (blocks(s, one, other) && can_coincide(s, one, other))
                return true;
        }
    return false;
}

/* Gate locks and order exclude most pairs of edges: computed once for each pair. */
static bool can_follow(struct search *s, uint32_t edge, uint32_t next)
{
    const struct edge *from = &s->edges.at[edge];
    uint8_t *known = &s->follows.at[from->follows + next - s->nodes.at[from->to].first];
    if (*known == NOT_ASKED)
        *known = edges_coincide(s, from, &s->edges.at[next]) ? FOLLOWS : NEVER_FOLLOWS;
    return *known == FOLLOWS;
}

/* Cycles of nodes first: there are few of them, however many places acquire such locks. */
static void extend_path(struct search *s, uint32_t n)
{
    const struct lock_node *k = &s->nodes.at[s->path[n - 1]];
    for (uint32_t t = k->first; t < k->first + k->n && s->tries <= MOST_TRIES; t++) {
        uint32_t to = s->edges.at[t].to;
        s->route[n - 1] = t;
        s->tries++;
        if (n > 1 && !can_follow(s, s->route[n - 2], t))
            continue;
        if (n == s->length && to == s->path[0]) {
            s->before = s->out->all.n;
            choose_requests(s, 0);
        }
        if (n == s->length || !may_go_on(s, n, to))
            continue;
        s->path[n] = to;
        if (s->length == 2 || !has_shorter(s, n + 1))
            extend_path(s, n + 1);
    }
}

static void find_cycles(struct search *s)
{
    for (uint32_t e = 0; e < s->w->events.n; e++)
        add_requests(s, e);
    sort_requests(s);
    find_edges(s);
    find_orders(s);
    for (s->length = 2; s->length <= DH_DEADLOCK_LONGEST; s->length++) {
        s->tries = 0;
        for (uint32_t k = 0; k < s->nodes.n && !dh_time_limit_over(s->w->limit); k++) {
            s->path[0] = k;
            extend_path(s, 1);
        }
        s->out->incomplete |= s->tries > MOST_TRIES;
    }
}

/* ---- waits ---- */
static bool is_known_wait(const struct search *s, enum dh_deadlock_kind kind, uint32_t inst)
{
    for (size_t i = 0; i < s->out->all.n; i++)
        if (s->out->all.at[i].kind == kind && s->w->events.at[s->out->all.at[i].events[0]].inst == inst)
            return true;
    return false;
}

static void find_signals(struct search *s)
{
    for (uint32_t e = 0; e < s->w->events.n; e++) {
        if (s->w->events.at[e].kind == DH_SYMEX_SIGNAL)
            dh_vec_push(&s->signals, e);
        else if (is_request(&s->w->events.at[e]))
            dh_vec_push(&s->wants, e);
    }
}

/* Threads that may end the wait. */
static dh_thread_set signallers(const struct search *s, const struct dh_symex_event *wait)
{
    dh_thread_set all = 0;
    for (size_t i = 0; i < s->signals.n; i++) {
        const struct dh_symex_event *other = &s->w->events.at[s->signals.at[i]];
        if (other->node == wait->node && other->offset == wait->offset)
            all |= (dh_thread_set)1 << other->thread;
    }
    return all;
}

/* A request of a signaller for the lock that the waiting thread holds; DH_NONE: no signaller is blocked by it. */
static uint32_t request_of_signaller(const struct search *s, const struct dh_symex_event *wait,
                                     const struct dh_symex_lock *h, dh_thread_set who)
{
    for (size_t i = 0; i < s->wants.n; i++) {
        const struct dh_symex_event *other = &s->w->events.at[s->wants.at[i]];
        if (!(who >> other->thread & 1) || !same_node(&s->w->held.at[other->second], h) ||
            !dh_may_happen_in_parallel(s->w, wait, other) || (h->mode && s->w->held.at[other->second].mode))
            continue;
        return s->wants.at[i];
    }
    return DH_NONE;
}

static void find_critical_wait(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    dh_thread_set who = l->n ? signallers(s, e) : 0;
    const struct dh_symex_lock *own = e->second == DH_NONE ? NULL : &s->w->held.at[e->second];
    for (uint32_t k = 0; k < l->n; k++) {
        const struct dh_symex_lock *h = &s->w->held.at[l->first + k];
        if (own && same_node(own, h))
            continue;
        uint32_t other = request_of_signaller(s, e, h, who);
        if (other == DH_NONE || is_known_wait(s, DH_DEADLOCK_CRITICAL, e->inst))
            continue;
        struct dh_deadlock d = {.kind = DH_DEADLOCK_CRITICAL, .n = 2, .events = {event, other}, .held = l->first + k};
        dh_vec_push(&s->out->all, d);
    }
}

/* Unknown code can signal what it can reach. */
static bool has_known_signallers(const struct search *s, uint32_t node)
{
    return !(s->w->points_to->graph.nodes.at[node].flags & (DH_NODE_EXPOSED | DH_NODE_COLLAPSED));
}

/* Contexts make many waits that differ in nothing relevant. */
static bool is_seen(struct search *s, const struct dh_symex_event *e)
{
    for (size_t i = 0; i < s->waits.n; i++) {
        const struct dh_symex_event *o = &s->w->events.at[s->waits.at[i]];
        if (o->inst == e->inst && o->thread == e->thread && o->lockset == e->lockset && o->node == e->node &&
            o->offset == e->offset && o->second == e->second)
            return true;
    }
    dh_vec_push(&s->waits, (uint32_t)(e - s->w->events.at));
    return false;
}

static void find_wait_deadlocks(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    if (e->flags & (DH_SYMEX_TRY | DH_SYMEX_IGNORED) || is_seen(s, e))
        return;
    find_critical_wait(s, event);
    if (!s->w->incomplete && has_known_signallers(s, e->node) && !signallers(s, e) &&
        !is_known_wait(s, DH_DEADLOCK_INDEFINITE, e->inst)) {
        struct dh_deadlock d = {.kind = DH_DEADLOCK_INDEFINITE, .n = 1, .events = {event}};
        dh_vec_push(&s->out->all, d);
    }
}

void dh_deadlocks_find(struct dh_deadlocks *d, const struct dh_symex *w)
{
    struct search s = {.w = w, .out = d};
    *d = (struct dh_deadlocks){0};
    dh_lock_pair_order_init(&s.pairs, w->program);
    find_cycles(&s);
    find_signals(&s);
    for (uint32_t e = 0; e < w->events.n; e++)
        if (w->events.at[e].kind == DH_SYMEX_WAIT)
            find_wait_deadlocks(&s, e);
    dh_self_deadlocks_find(d, w);
    dh_lock_pair_order_release(&s.pairs);
    dh_vec_release(&s.requests);
    dh_vec_release(&s.nodes);
    dh_vec_release(&s.edges);
    dh_vec_release(&s.follows);
    dh_vec_release(&s.waits);
    dh_vec_release(&s.signals);
    dh_vec_release(&s.wants);
}

void dh_deadlocks_release(struct dh_deadlocks *d)
{
    dh_vec_release(&d->all);
}
