/* The lock graph and its circles; waits. */
#include "analysis/deadlock.h"

#include "analysis/meet.h"
#include "analysis/pair_order.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 1000000, MOST_ALIKE = 3, MOST_ORIGINS = 2 };

/* One lock wanted while another is held: an edge of the lock graph. */
struct request {
    uint32_t event;
    uint32_t held;     /* in walk.held */
    int sign;          /* of dh_pair_order, when both locks are of one kind */
    uint32_t from, to; /* number of the kind of lock that is held, that is wanted */
};

struct search {
    const struct dh_walk *w;
    struct dh_deadlocks *out;
    struct dh_pair_order pairs;
    DH_VEC(struct request) requests; /* by the lock that is held */
    uint32_t chain[DH_DEADLOCK_LONGEST];
    DH_VEC(uint32_t) waits; /* events that were looked at */
    uint32_t length;        /* of the circles that are looked for now */
    uint64_t tries;
};

static const struct dh_held *wanted(const struct search *s, const struct request *r)
{
    return &s->w->held.at[s->w->events.at[r->event].second];
}

static const struct dh_held *held(const struct search *s, const struct request *r)
{
    return &s->w->held.at[r->held];
}

static bool same_kind(const struct dh_held *a, const struct dh_held *b)
{
    return a->node == b->node && a->offset == b->offset;
}

/* Certainly the same lock at run time. */
static bool same_lock(const struct dh_walk *w, const struct dh_held *a, const struct dh_held *b)
{
    return same_kind(a, b) && dh_walk_unique(w, a->node) && !a->element && !b->element;
}

/* The same within one event: also when the same value leads to both. */
static bool taken_again(const struct dh_walk *w, const struct dh_held *a, const struct dh_held *b)
{
    return same_lock(w, a, b) || (same_kind(a, b) && a->expr && a->expr == b->expr && a->index == b->index);
}

/* ---- requests ---- */
static bool is_request(const struct dh_event *e)
{
    return e->kind == DH_EVENT_LOCK && e->second != DH_NONE && !(e->flags & (DH_EVENT_TRY | DH_EVENT_IGNORED));
}

/* A lock that the thread has already is not waited for. */
static bool holds_already(const struct search *s, const struct dh_event *e)
{
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    for (uint32_t k = 0; k < l->n; k++)
        if (taken_again(s->w, &s->w->held.at[l->first + k], &s->w->held.at[e->second]))
            return true;
    return false;
}

/* A node that stands for objects of several kinds tells nothing about the order of locks in them: what was united is
 * taken before and after everything. */
static bool is_one_kind(const struct search *s, const struct dh_held *h)
{
    const struct dh_graph *g = &s->w->shapes->graph;
    if (h->node >= g->nodes.n)
        return false;
    const struct dh_node *n = &g->nodes.at[h->node];
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
    const struct dh_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    if (!is_request(e) || !l->n || !is_one_kind(s, &s->w->held.at[e->second]) || holds_already(s, e))
        return;
    for (uint32_t k = 0; k < l->n; k++) {
        struct request r = {.event = event, .held = l->first + k};
        if (is_one_kind(s, held(s, &r)))
            dh_vec_push(&s->requests, r);
    }
}

static const struct search *sorting;

static int compare_kinds(const struct dh_held *x, const struct dh_held *y)
{
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : 0;
}

/* One place with one pair of locks. */
static int compare_alike(const struct request *a, const struct request *b)
{
    uint32_t x = sorting->w->events.at[a->event].inst, y = sorting->w->events.at[b->event].inst;
    int c = compare_kinds(held(sorting, a), held(sorting, b));
    c = c ? c : compare_kinds(wanted(sorting, a), wanted(sorting, b));
    return c ? c : x != y ? (x < y ? -1 : 1) : 0;
}

/* Of those the most dangerous first: by threads of which there are many, under the fewest locks. */
static int by_held(const void *a, const void *b)
{
    const struct dh_walk *w = sorting->w;
    const struct dh_event *x = &w->events.at[((const struct request *)a)->event],
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

/* The first request that holds such a lock. */
static size_t first_holding(const struct search *s, const struct dh_held *lock)
{
    size_t low = 0, high = s->requests.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct dh_held *h = held(s, &s->requests.at[middle]);
        if (h->node < lock->node || (h->node == lock->node && h->offset < lock->offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- what may be part of a circle ---- */
/* Numbers for kinds of locks: the first request that holds one; those that nobody holds have none. */
static void number_kinds(struct search *s)
{
    for (size_t i = 0; i < s->requests.n; i++) {
        struct request *r = &s->requests.at[i];
        size_t to = first_holding(s, wanted(s, r));
        r->from = (uint32_t)first_holding(s, held(s, r));
        r->to = to < s->requests.n && same_kind(held(s, &s->requests.at[to]), wanted(s, r)) ? (uint32_t)to : DH_NONE;
    }
}

/* Takes away requests for what nobody holds who is still there, and holders of what nobody wants, until none is left.
 */
static void trim(struct search *s)
{
    size_t n = s->requests.n;
    uint8_t *is_held = malloc(n + 1), *is_wanted = malloc(n + 1), *gone = calloc(n + 1, 1);
    if (!is_held || !is_wanted || !gone)
        abort();
    for (bool changed = true; changed;) {
        changed = false;
        memset(is_held, 0, n + 1);
        memset(is_wanted, 0, n + 1);
        for (size_t i = 0; i < n; i++) {
            is_held[s->requests.at[i].from] |= !gone[i];
            if (s->requests.at[i].to != DH_NONE)
                is_wanted[s->requests.at[i].to] |= !gone[i];
        }
        for (size_t i = 0; i < n; i++) {
            const struct request *r = &s->requests.at[i];
            if (gone[i] || (r->to != DH_NONE && is_held[r->to] && is_wanted[r->from]))
                continue;
            gone[i] = 1;
            changed = true;
        }
    }
    s->requests.n = 0;
    for (size_t i = 0; i < n; i++)
        if (!gone[i])
            s->requests.at[s->requests.n++] = s->requests.at[i];
    free(is_held);
    free(is_wanted);
    free(gone);
}

static void find_orders(struct search *s)
{
    for (size_t i = 0; i < s->requests.n; i++) {
        struct request *r = &s->requests.at[i];
        const struct request *last = i ? r - 1 : NULL;
        uint32_t inst = s->w->events.at[r->event].inst;
        if (!same_kind(held(s, r), wanted(s, r)))
            continue;
        bool known = last && same_kind(held(s, last), wanted(s, last)) && held(s, last)->inst == held(s, r)->inst &&
                     s->w->events.at[last->event].inst == inst;
        r->sign = known ? last->sign : dh_pair_order(&s->pairs, held(s, r)->inst, inst);
    }
}

/* ---- circles ---- */
/* A lock that both hold, and one of them alone, lets only one of them be there. */
static bool has_gate(const struct search *s, const struct request *a, const struct request *b)
{
    const struct dh_walk *w = s->w;
    const struct dh_lockset *x = &w->locksets.at[w->events.at[a->event].lockset],
                            *y = &w->locksets.at[w->events.at[b->event].lockset];
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < y->n; k++) {
            const struct dh_held *g = &w->held.at[x->first + i], *h = &w->held.at[y->first + k];
            if (same_lock(w, g, h) && !(g->mode && h->mode))
                return true;
        }
    return false;
}

static bool blocks(const struct search *s, const struct request *waits, const struct request *holds)
{
    const struct dh_held *want = wanted(s, waits), *have = held(s, holds);
    return same_kind(want, have) && !(want->mode && have->mode);
}

static bool can_meet(const struct search *s, const struct request *a, const struct request *b)
{
    const struct dh_event *x = &s->w->events.at[a->event], *y = &s->w->events.at[b->event];
    return dh_events_meet(s->w, x, y) && !has_gate(s, a, b);
}

/* All are of one kind and all keep the same order. */
static bool is_ordered(const struct search *s, uint32_t n)
{
    int sign = s->requests.at[s->chain[0]].sign;
    for (uint32_t k = 0; k < n; k++) {
        const struct request *r = &s->requests.at[s->chain[k]];
        if (!r->sign || r->sign != sign || !same_kind(held(s, r), wanted(s, r)))
            return false;
    }
    return true;
}

/* The same places found in another context or another turn of the circle. */
static bool is_known(const struct search *s, uint32_t n)
{
    const struct dh_walk *w = s->w;
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

static bool takes(const struct search *s, uint32_t n, const struct dh_held *lock)
{
    for (uint32_t k = 0; k < n; k++)
        if (same_kind(wanted(s, &s->requests.at[s->chain[k]]), lock))
            return true;
    return false;
}

/* Among its locks there is a shorter circle: the longer one says no more. */
static bool has_shorter(const struct search *s, uint32_t n)
{
    for (size_t i = 0; i < s->out->all.n; i++) {
        const struct dh_deadlock *d = &s->out->all.at[i];
        bool inside = d->n < n;
        for (uint32_t k = 0; k < d->n && inside; k++)
            inside = takes(s, n, &s->w->held.at[s->w->events.at[d->events[k]].second]);
        if (inside)
            return true;
    }
    return false;
}

static void add_circle(struct search *s, uint32_t n)
{
    struct dh_deadlock d = {.kind = DH_DEADLOCK_MUTUAL, .n = n};
    if (n != s->length || is_ordered(s, n) || is_known(s, n) || has_shorter(s, n))
        return;
    for (uint32_t k = 0; k < n; k++)
        d.events[k] = s->requests.at[s->chain[k]].event;
    dh_vec_push(&s->out->all, d);
}

/* Extends the chain; its first request is the least of the circle, so that each is found once. */
static void extend(struct search *s, uint32_t n)
{
    const struct request *last = &s->requests.at[s->chain[n - 1]], *first = &s->requests.at[s->chain[0]];
    if (n > 1 && blocks(s, last, first)) {
        add_circle(s, n);
        return;
    }
    if (n == s->length)
        return;
    for (size_t i = first_holding(s, wanted(s, last)); i < s->requests.n; i++) {
        const struct request *r = &s->requests.at[i];
        if (!same_kind(held(s, r), wanted(s, last)))
            break;
        if (++s->tries > MOST_TRIES) {
            s->out->incomplete = true;
            return;
        }
        bool fits = i >= s->chain[0] && blocks(s, last, r);
        for (uint32_t k = 0; k < n && fits; k++)
            fits = can_meet(s, &s->requests.at[s->chain[k]], r);
        if (!fits)
            continue;
        s->chain[n] = (uint32_t)i;
        extend(s, n + 1);
    }
}

static void find_circles(struct search *s)
{
    for (uint32_t e = 0; e < s->w->events.n; e++)
        add_requests(s, e);
    sort_requests(s);
    number_kinds(s);
    trim(s);
    find_orders(s);
    for (s->length = 2; s->length <= DH_DEADLOCK_LONGEST; s->length++) {
        s->tries = 0;
        for (uint32_t i = 0; i < s->requests.n; i++) {
            s->chain[0] = i;
            extend(s, 1);
        }
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

/* Threads that may end the wait. */
static dh_threads signallers(const struct search *s, const struct dh_event *wait)
{
    dh_threads all = 0;
    for (size_t e = 0; e < s->w->events.n; e++) {
        const struct dh_event *other = &s->w->events.at[e];
        if (other->kind == DH_EVENT_SIGNAL && other->node == wait->node && other->offset == wait->offset)
            all |= (dh_threads)1 << other->thread;
    }
    return all;
}

/* A request, by who may end the wait, for what the waiting thread holds; DH_NONE: nobody is kept from signalling. */
static uint32_t who_needs(const struct search *s, const struct dh_event *wait, const struct dh_held *h, dh_threads who)
{
    for (uint32_t e = 0; e < s->w->events.n; e++) {
        const struct dh_event *other = &s->w->events.at[e];
        if (!is_request(other) || !(who >> other->thread & 1) || !same_kind(&s->w->held.at[other->second], h) ||
            !dh_events_meet(s->w, wait, other) || (h->mode && s->w->held.at[other->second].mode))
            continue;
        return e;
    }
    return DH_NONE;
}

static void look_at_held(struct search *s, uint32_t event)
{
    const struct dh_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    dh_threads who = l->n ? signallers(s, e) : 0;
    const struct dh_held *own = e->second == DH_NONE ? NULL : &s->w->held.at[e->second];
    for (uint32_t k = 0; k < l->n; k++) {
        const struct dh_held *h = &s->w->held.at[l->first + k];
        if (own && same_kind(own, h))
            continue;
        uint32_t other = who_needs(s, e, h, who);
        if (other == DH_NONE || is_known_wait(s, DH_DEADLOCK_CRITICAL, e->inst))
            continue;
        struct dh_deadlock d = {.kind = DH_DEADLOCK_CRITICAL, .n = 2, .events = {event, other}, .held = l->first + k};
        dh_vec_push(&s->out->all, d);
    }
}

static bool is_signalled(const struct search *s, const struct dh_event *wait)
{
    for (size_t e = 0; e < s->w->events.n; e++) {
        const struct dh_event *other = &s->w->events.at[e];
        if (other->kind == DH_EVENT_SIGNAL && other->node == wait->node && other->offset == wait->offset)
            return true;
    }
    return false;
}

/* What code that nobody knows can get at, it can signal. */
static bool is_known_whole(const struct search *s, uint32_t node)
{
    return !(s->w->shapes->graph.nodes.at[node].flags & (DH_NODE_EXPOSED | DH_NODE_COLLAPSED));
}

/* Contexts make many waits that differ in nothing that counts. */
static bool was_looked_at(struct search *s, const struct dh_event *e)
{
    for (size_t i = 0; i < s->waits.n; i++) {
        const struct dh_event *o = &s->w->events.at[s->waits.at[i]];
        if (o->inst == e->inst && o->thread == e->thread && o->lockset == e->lockset && o->node == e->node &&
            o->offset == e->offset && o->second == e->second)
            return true;
    }
    dh_vec_push(&s->waits, (uint32_t)(e - s->w->events.at));
    return false;
}

static void look_at_wait(struct search *s, uint32_t event)
{
    const struct dh_event *e = &s->w->events.at[event];
    if (e->flags & (DH_EVENT_TRY | DH_EVENT_IGNORED) || was_looked_at(s, e))
        return;
    look_at_held(s, event);
    if (!s->w->incomplete && is_known_whole(s, e->node) && !is_signalled(s, e) &&
        !is_known_wait(s, DH_DEADLOCK_INDEFINITE, e->inst)) {
        struct dh_deadlock d = {.kind = DH_DEADLOCK_INDEFINITE, .n = 1, .events = {event}};
        dh_vec_push(&s->out->all, d);
    }
}

void dh_deadlocks_find(struct dh_deadlocks *d, const struct dh_walk *w)
{
    struct search s = {.w = w, .out = d};
    *d = (struct dh_deadlocks){0};
    dh_pair_order_init(&s.pairs, w->program);
    find_circles(&s);
    for (uint32_t e = 0; e < w->events.n; e++)
        if (w->events.at[e].kind == DH_EVENT_WAIT)
            look_at_wait(&s, e);
    dh_pair_order_release(&s.pairs);
    dh_vec_release(&s.requests);
    dh_vec_release(&s.waits);
}

void dh_deadlocks_release(struct dh_deadlocks *d)
{
    dh_vec_release(&d->all);
}
