/* The lock graph and its circles; waits. */
#include "analysis/deadlock.h"

#include "analysis/lock_pair_order.h"
#include "analysis/may_happen_in_parallel.h"
#include "analysis/self_deadlock.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_TRIES = 1000000, MOST_ALIKE = 3, MOST_ORIGINS = 2, MOST_OF_KINDS = 32 };

/* One lock wanted while another is held. */
struct request {
    uint32_t event;
    uint32_t held; /* in symex.held */
    int sign;      /* of dh_lock_pair_order, when both locks are of one kind */
};

/* The lock graph: kinds of locks, and steps from one that is held to one that is wanted, with all requests for it. */
struct step {
    uint32_t to;       /* kind, DH_NONE: nobody holds one and wants another */
    uint32_t first, n; /* in requests */
    size_t follows;    /* in follows: an answer for each step of `to` */
};

/* Whether some requests of two steps, one after the other, can be there at once. */
enum follows { NOT_ASKED, FOLLOWS, NEVER_FOLLOWS };

struct kind {
    uint32_t request;  /* the first that holds it */
    uint32_t first, n; /* in steps */
};

struct search {
    const struct dh_symex *w;
    struct dh_deadlocks *out;
    struct dh_lock_pair_order pairs;
    DH_VEC(struct request) requests; /* by the lock that is held, then by the one that is wanted */
    DH_VEC(struct kind) kinds;
    DH_VEC(struct step) steps;
    DH_VEC(uint8_t) follows;
    uint32_t path[DH_DEADLOCK_LONGEST];  /* kinds, each a step from the one before */
    uint32_t route[DH_DEADLOCK_LONGEST]; /* the steps */
    uint32_t chain[DH_DEADLOCK_LONGEST]; /* a request of each step */
    DH_VEC(uint32_t) waits;              /* events that were looked at */
    DH_VEC(uint32_t) signals, wants;     /* events */
    uint32_t length;                     /* of the circles that are looked for now */
    size_t before;                       /* deadlocks found before those of the kinds in `path` */
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

static bool same_kind(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return a->node == b->node && a->offset == b->offset;
}

/* Certainly the same lock at run time. */
static bool same_lock(const struct dh_symex *w, const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return same_kind(a, b) && dh_symex_is_unique(w, a->node) && !a->element && !b->element;
}

/* The same within one event: also when the same value leads to both. */
static bool taken_again(const struct dh_symex *w, const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return same_lock(w, a, b) || (same_kind(a, b) && a->expr && a->expr == b->expr && a->index == b->index);
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
        if (taken_again(s->w, &s->w->held.at[l->first + k], &s->w->held.at[e->second]))
            return true;
    return false;
}

/* A node that stands for objects of several kinds tells nothing about the order of locks in them: what was united is
 * taken before and after everything. */
static bool is_one_kind(const struct search *s, const struct dh_symex_lock *h)
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
    if (!is_request(e) || !l->n || !is_one_kind(s, &s->w->held.at[e->second]) || holds_already(s, e))
        return;
    for (uint32_t k = 0; k < l->n; k++) {
        struct request r = {.event = event, .held = l->first + k};
        if (is_one_kind(s, held(s, &r)))
            dh_vec_push(&s->requests, r);
    }
}

static const struct search *sorting;

static int compare_kinds(const struct dh_symex_lock *x, const struct dh_symex_lock *y)
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

/* ---- kinds of locks ---- */
static uint32_t kind_of(const struct search *s, const struct dh_symex_lock *lock)
{
    uint32_t low = 0, high = (uint32_t)s->kinds.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (compare_kinds(held(s, &s->requests.at[s->kinds.at[middle].request]), lock) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < s->kinds.n && same_kind(held(s, &s->requests.at[s->kinds.at[low].request]), lock);
    return found ? low : DH_NONE;
}

/* Requests are sorted by what is held, then by what is wanted: kinds and steps are stretches of them. Nobody waits long
 * for what nobody holds while wanting more: such locks are of no kind. */
static void find_steps(struct search *s)
{
    for (uint32_t i = 0; i < s->requests.n; i++)
        if (!i || !same_kind(held(s, &s->requests.at[i - 1]), held(s, &s->requests.at[i])))
            dh_vec_push(&s->kinds, (struct kind){.request = i});
    for (uint32_t i = 0, kind = 0; i < s->requests.n; i++) {
        const struct request *r = &s->requests.at[i];
        kind += kind + 1 < s->kinds.n && i >= s->kinds.at[kind + 1].request;
        struct kind *k = &s->kinds.at[kind];
        if (!k->n || !same_kind(wanted(s, r), wanted(s, r - 1))) {
            k->first = k->n ? k->first : (uint32_t)s->steps.n;
            k->n++;
            dh_vec_push(&s->steps, (struct step){.to = kind_of(s, wanted(s, r)), .first = i});
        }
        s->steps.at[s->steps.n - 1].n++;
    }
    for (size_t t = 0; t < s->steps.n; t++) {
        struct step *from = &s->steps.at[t];
        from->follows = s->follows.n;
        for (uint32_t n = 0; from->to != DH_NONE && n < s->kinds.at[from->to].n; n++)
            dh_vec_push(&s->follows, (uint8_t)NOT_ASKED);
    }
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
        r->sign = known ? last->sign : dh_lock_pair_order(&s->pairs, held(s, r)->inst, inst);
    }
}

/* ---- circles ---- */
/* A lock that both hold, and one of them alone, lets only one of them be there. */
static bool has_gate(const struct search *s, const struct request *a, const struct request *b)
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
    return same_kind(want, have) && !(want->mode && have->mode);
}

static bool can_meet(const struct search *s, const struct request *a, const struct request *b)
{
    const struct dh_symex_event *x = &s->w->events.at[a->event], *y = &s->w->events.at[b->event];
    return dh_may_happen_in_parallel(s->w, x, y) && !has_gate(s, a, b);
}

/* Locks of different objects that one function takes: by the order in which it always takes them. */
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
        if (!r->sign || r->sign != sign || !same_kind(held(s, r), wanted(s, r)))
            return false;
    }
    return true;
}

/* The same places found in another context or another turn of the circle. */
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
        if (same_kind(held(s, &s->requests.at[s->kinds.at[s->path[k]].request]), lock))
            return true;
    return false;
}

/* Among these kinds there is a shorter circle: a longer one says no more. */
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

static void add_circle(struct search *s)
{
    struct dh_deadlock d = {.kind = DH_DEADLOCK_MUTUAL, .n = s->length};
    if (is_ordered(s, s->length) || is_known(s, s->length) || is_ordered_by_one(s, s->length))
        return;
    for (uint32_t k = 0; k < s->length; k++)
        d.events[k] = s->requests.at[s->chain[k]].event;
    dh_vec_push(&s->out->all, d);
}

static bool fits(struct search *s, uint32_t n, uint32_t request)
{
    const struct request *r = &s->requests.at[request];
    bool fits = !n || blocks(s, &s->requests.at[s->chain[n - 1]], r);
    fits = fits && (n + 1 < s->length || blocks(s, r, n ? &s->requests.at[s->chain[0]] : r));
    s->tries++;
    for (uint32_t k = 0; k < n && fits; k++)
        fits = can_meet(s, &s->requests.at[s->chain[k]], r);
    return fits;
}

/* A request for each step of the route from the n-th on, such that all can be there at once. */
static void choose(struct search *s, uint32_t n)
{
    if (n == s->length) {
        add_circle(s);
        return;
    }
    const struct step *t = &s->steps.at[s->route[n]];
    bool again = n && s->route[n] == s->route[n - 1]; /* the other one of two of one kind: each pair once */
    for (uint32_t i = again ? s->chain[n - 1] : t->first; i < t->first + t->n; i++) {
        if (s->out->all.n - s->before >= MOST_OF_KINDS || s->tries > MOST_TRIES)
            break;
        if (!fits(s, n, i))
            continue;
        s->chain[n] = i;
        choose(s, n + 1);
    }
}

/* Whether the path may go on to that kind: its first kind is the least, so that each circle is found once. Kinds do not
 * come twice: such a circle has a shorter one in it. But two locks of one kind are a circle of two. */
static bool may_go_on(const struct search *s, uint32_t n, uint32_t to)
{
    if (to == DH_NONE || to < s->path[0])
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (s->path[k] == to)
            return s->length == 2;
    return true;
}

static bool some_meet(struct search *s, const struct step *a, const struct step *b)
{
    for (uint32_t i = a->first; i < a->first + a->n; i++)
        for (uint32_t k = b->first; k < b->first + b->n; k++) {
            const struct request *one = &s->requests.at[i], *other = &s->requests.at[k];
            s->tries++;
            if (blocks(s, one, other) && can_meet(s, one, other))
                return true;
        }
    return false;
}

/* Gates and order keep most steps apart: found out once for each two. */
static bool can_follow(struct search *s, uint32_t step, uint32_t next)
{
    const struct step *from = &s->steps.at[step];
    uint8_t *known = &s->follows.at[from->follows + next - s->kinds.at[from->to].first];
    if (*known == NOT_ASKED)
        *known = some_meet(s, from, &s->steps.at[next]) ? FOLLOWS : NEVER_FOLLOWS;
    return *known == FOLLOWS;
}

/* Looks for circles of kinds first: there are few of them, however many places take such locks. */
static void extend(struct search *s, uint32_t n)
{
    const struct kind *k = &s->kinds.at[s->path[n - 1]];
    for (uint32_t t = k->first; t < k->first + k->n && s->tries <= MOST_TRIES; t++) {
        uint32_t to = s->steps.at[t].to;
        s->route[n - 1] = t;
        s->tries++;
        if (n > 1 && !can_follow(s, s->route[n - 2], t))
            continue;
        if (n == s->length && to == s->path[0]) {
            s->before = s->out->all.n;
            choose(s, 0);
        }
        if (n == s->length || !may_go_on(s, n, to))
            continue;
        s->path[n] = to;
        if (s->length == 2 || !has_shorter(s, n + 1))
            extend(s, n + 1);
    }
}

static void find_circles(struct search *s)
{
    for (uint32_t e = 0; e < s->w->events.n; e++)
        add_requests(s, e);
    sort_requests(s);
    find_steps(s);
    find_orders(s);
    for (s->length = 2; s->length <= DH_DEADLOCK_LONGEST; s->length++) {
        s->tries = 0;
        for (uint32_t k = 0; k < s->kinds.n && !dh_time_limit_over(s->w->limit); k++) {
            s->path[0] = k;
            extend(s, 1);
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

/* A request, by who may end the wait, for what the waiting thread holds; DH_NONE: nobody is kept from signalling. */
static uint32_t who_needs(const struct search *s, const struct dh_symex_event *wait, const struct dh_symex_lock *h,
                          dh_thread_set who)
{
    for (size_t i = 0; i < s->wants.n; i++) {
        const struct dh_symex_event *other = &s->w->events.at[s->wants.at[i]];
        if (!(who >> other->thread & 1) || !same_kind(&s->w->held.at[other->second], h) ||
            !dh_may_happen_in_parallel(s->w, wait, other) || (h->mode && s->w->held.at[other->second].mode))
            continue;
        return s->wants.at[i];
    }
    return DH_NONE;
}

static void look_at_held(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    dh_thread_set who = l->n ? signallers(s, e) : 0;
    const struct dh_symex_lock *own = e->second == DH_NONE ? NULL : &s->w->held.at[e->second];
    for (uint32_t k = 0; k < l->n; k++) {
        const struct dh_symex_lock *h = &s->w->held.at[l->first + k];
        if (own && same_kind(own, h))
            continue;
        uint32_t other = who_needs(s, e, h, who);
        if (other == DH_NONE || is_known_wait(s, DH_DEADLOCK_CRITICAL, e->inst))
            continue;
        struct dh_deadlock d = {.kind = DH_DEADLOCK_CRITICAL, .n = 2, .events = {event, other}, .held = l->first + k};
        dh_vec_push(&s->out->all, d);
    }
}

/* What code that nobody knows can get at, it can signal. */
static bool is_known_whole(const struct search *s, uint32_t node)
{
    return !(s->w->points_to->graph.nodes.at[node].flags & (DH_NODE_EXPOSED | DH_NODE_COLLAPSED));
}

/* Contexts make many waits that differ in nothing that counts. */
static bool was_looked_at(struct search *s, const struct dh_symex_event *e)
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

static void look_at_wait(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    if (e->flags & (DH_SYMEX_TRY | DH_SYMEX_IGNORED) || was_looked_at(s, e))
        return;
    look_at_held(s, event);
    if (!s->w->incomplete && is_known_whole(s, e->node) && !signallers(s, e) &&
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
    find_circles(&s);
    find_signals(&s);
    for (uint32_t e = 0; e < w->events.n; e++)
        if (w->events.at[e].kind == DH_SYMEX_WAIT)
            look_at_wait(&s, e);
    dh_self_deadlocks_find(d, w);
    dh_lock_pair_order_release(&s.pairs);
    dh_vec_release(&s.requests);
    dh_vec_release(&s.kinds);
    dh_vec_release(&s.steps);
    dh_vec_release(&s.follows);
    dh_vec_release(&s.waits);
    dh_vec_release(&s.signals);
    dh_vec_release(&s.wants);
}

void dh_deadlocks_release(struct dh_deadlocks *d)
{
    dh_vec_release(&d->all);
}
