#include "analysis/races.h"

#include "analysis/alias_filter.h"
#include "analysis/atomic_sync.h"
#include "analysis/heuristics.h"
#include "analysis/may_happen_in_parallel.h"
#include "analysis/source_names.h"
#include "base/alloc.h"
#include "base/set.h"

#include <stdlib.h>
#include <string.h>

/* Every instruction in a conflict is reported, but not with every partner. */
enum { ENOUGH = 12, ENOUGH_BLURRED = 3 };

static const struct {
    const char *text;
    enum dh_argument_kind kind;
} arguments[] = {
#define DH_ARGUMENT(id, kind, words) {words, DH_ARGUMENT_IS_##kind},
#include "analysis/arguments.def"
#undef DH_ARGUMENT
};

const char *dh_argument_text(enum dh_argument a)
{
    return a < DH_ARGUMENT_COUNT ? arguments[a].text : "nothing orders them";
}

enum dh_argument_kind dh_argument_kind(enum dh_argument a)
{
    return a < DH_ARGUMENT_COUNT ? arguments[a].kind : DH_ARGUMENT_IS_HEURISTIC;
}

static bool is_not_heuristic(enum dh_argument a)
{
    return dh_argument_kind(a) != DH_ARGUMENT_IS_HEURISTIC;
}

const char *dh_conflict_class_name(enum dh_conflict_class c)
{
    static const char *const names[] = {"no-read", "lock-not-unique", "all-writes-locked", "other"};
    return names[c];
}

/* ---- order by starts and joins ---- */

/* Heuristically, as long as this thread is one of their creators. */
static bool after_end(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    return w->threads.at[a->thread].unique && w->orders.at[a->order].joined_heuristic >> b->thread & 1 &&
           w->threads.at[b->thread].creators >> a->thread & 1;
}

/* ---- the same bytes? ---- */

static bool ranges_meet(int64_t a, int64_t a_size, int64_t b, int64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

/* Two elements of arrays with one stride, at any index. */
static bool elements_meet(int64_t gap, int64_t stride, int64_t a_size, int64_t b_size)
{
    gap %= stride;
    gap += gap < 0 ? stride : 0;
    return gap < a_size || stride - gap < b_size;
}

/* False: both are bounded, and one ends before the other begins. */
static bool reaches_meet(const struct dh_symex_event *a, int64_t a_size, const struct dh_symex_event *b, int64_t b_size)
{
    if (a->index_extent == UINT32_MAX || b->index_extent == UINT32_MAX)
        return true;
    return ranges_meet(a->offset, a->index_extent > a_size ? a->index_extent : a_size, b->offset,
                       b->index_extent > b_size ? b->index_extent : b_size);
}

bool dh_events_may_overlap(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    int64_t a_size = a->size ? a->size : INT32_MAX, b_size = b->size ? b->size : INT32_MAX;
    if (w->points_to->graph.nodes.at[a->node].flags & DH_NODE_COLLAPSED || a->flags & b->flags & DH_SYMEX_UNKNOWN_INDEX)
        return true;
    if (a->flags & DH_SYMEX_UNKNOWN_INDEX)
        return b->offset + b_size > a->offset;
    if (b->flags & DH_SYMEX_UNKNOWN_INDEX)
        return a->offset + a_size > b->offset;
    if (ranges_meet(a->offset, a_size, b->offset, b_size))
        return true;
    if (!reaches_meet(a, a_size, b, b_size))
        return false;
    if (a->stride && a->stride == b->stride)
        return elements_meet(b->offset - a->offset, a->stride, a_size, b_size);
    /* What goes in smaller steps is an array inside the other's element, from its offset on. */
    const struct dh_symex_event *small = !a->stride ? b : !b->stride ? a : a->stride < b->stride ? a : b;
    const struct dh_symex_event *other = small == a ? b : a;
    int64_t gap = (int64_t)other->offset - small->offset, o_size = other == a ? a_size : b_size;
    if (!small->stride || gap + o_size <= 0)
        return false;
    return other->stride || elements_meet(gap, small->stride, small == a ? a_size : b_size, o_size);
}

/* ---- locks ---- */

static bool belongs(const struct dh_symex_lock *h)
{
    return h->relation == DH_RELATION_SAME || h->relation == DH_RELATION_OWNER || h->relation == DH_RELATION_NEAR;
}

static enum dh_argument one_lock(const struct dh_symex *w, const struct dh_symex_event *e,
                                 const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    if (a->node != b->node || a->offset != b->offset || (a->mode && b->mode))
        return DH_ARGUMENT_COUNT;
    bool one = dh_symex_is_unique(w, a->node),
         remade = w->points_to->graph.nodes.at[a->node].flags & DH_NODE_LOCK_REINIT;
    if (one && !a->element && !b->element && !remade)
        return DH_ARGUMENT_LOCK;
    bool collapsed = w->points_to->graph.nodes.at[a->node].flags & DH_NODE_COLLAPSED;
    bool near = a->relation == DH_RELATION_NEAR || b->relation == DH_RELATION_NEAR;
    if (!collapsed && near && belongs(a) && belongs(b))
        return DH_ARGUMENT_LOCK_NEAR;
    bool reached = a->relation == DH_RELATION_REACHED || b->relation == DH_RELATION_REACHED;
    if (!collapsed && reached && a->relation != DH_RELATION_NONE && b->relation != DH_RELATION_NONE)
        return DH_ARGUMENT_LOCK_REACHED;
    if (collapsed || a->relation != b->relation)
        return DH_ARGUMENT_COUNT;
    if (a->relation == DH_RELATION_SAME && a->node == e->node)
        return DH_ARGUMENT_INSTANCE_LOCK;
    if (a->relation == DH_RELATION_OWNER)
        return DH_ARGUMENT_OWNER_LOCK;
    if (a->relation == DH_RELATION_INDEX && one && dh_symex_is_unique(w, e->node))
        return DH_ARGUMENT_INDEX_LOCK;
    return DH_ARGUMENT_COUNT;
}

static enum dh_argument lock_argument(const struct dh_symex *w, const struct dh_symex_event *e,
                                      const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    enum dh_argument g = one_lock(w, e, a, b);
    if (!a->sync_kind && !b->sync_kind)
        return g;
    bool same = a->node == b->node && a->offset == b->offset && a->sync_kind == b->sync_kind && !(a->mode && b->mode);
    bool related = a->relation != DH_RELATION_NONE && b->relation != DH_RELATION_NONE;
    if (!same || (g == DH_ARGUMENT_COUNT && !related) ||
        dh_atomic_sync_has_plain_store(&w->state->atomics, (struct dh_heap_cell){a->node, a->offset}))
        return DH_ARGUMENT_COUNT;
    return DH_ARGUMENT_ATOMIC_LOCK;
}

static enum dh_argument common_lock(const struct dh_symex *w, const struct dh_symex_event *a,
                                    const struct dh_symex_event *b)
{
    const struct dh_lockset *la = &w->locksets.at[a->lockset], *lb = &w->locksets.at[b->lockset];
    enum dh_argument best = DH_ARGUMENT_COUNT;
    for (uint32_t n = 0; n < la->n; n++)
        for (uint32_t k = 0; k < lb->n; k++) {
            enum dh_argument g = lock_argument(w, a, &w->held.at[la->first + n], &w->held.at[lb->first + k]);
            if (is_not_heuristic(g))
                return g;
            if (g != DH_ARGUMENT_COUNT)
                best = g;
        }
    return best;
}

static bool shares_lock(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_lockset *la = &w->locksets.at[a->lockset], *lb = &w->locksets.at[b->lockset];
    for (uint32_t n = 0; n < la->n; n++)
        for (uint32_t k = 0; k < lb->n; k++)
            if (w->held.at[la->first + n].node == w->held.at[lb->first + k].node &&
                w->held.at[la->first + n].offset == w->held.at[lb->first + k].offset)
                return true;
    return false;
}

/* ---- all arguments ---- */

static bool own_objects(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    uint32_t both = a->flags & b->flags;
    return a->thread == b->thread && w->threads.at[a->thread].own_argument &&
           both & (DH_SYMEX_OWN | DH_SYMEX_OWN_REACHED);
}

static bool own_objects_nearly(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    uint32_t own = DH_SYMEX_OWN | DH_SYMEX_OWN_REACHED | DH_SYMEX_OWN_NEAR;
    return a->thread == b->thread && w->threads.at[a->thread].own_argument && a->flags & own && b->flags & own;
}

/* `a` iterates over the elements that are passed to threads of b's kind, one each. */
static bool handed_over(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_abstract_thread *t = &w->threads.at[b->thread];
    if (!(b->flags & DH_SYMEX_OWN) || !t->own_argument || t->creators != (dh_thread_set)1 << a->thread ||
        !w->threads.at[a->thread].unique)
        return false;
    return (a->flags & DH_SYMEX_NOT_PASSED && a->loop == t->loop) ||
           (a->element_joined >> b->thread & 1 && t->handle_offset != INT32_MIN);
}

static bool own_parts(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (a->flags & b->flags & (DH_SYMEX_OWN_RANGE | DH_SYMEX_OWN_FOUND) && a->thread == b->thread &&
        w->threads.at[a->thread].own_argument)
        return true;
    return a->thread == b->thread && w->threads.at[a->thread].own_argument &&
           a->flags & b->flags & DH_SYMEX_OWN_INDEX && a->offset == b->offset && a->stride == b->stride &&
           dh_symex_is_unique(w, a->node);
}

static bool apart_by_barrier(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    uint64_t p = w->orders.at[a->order].phase, q = w->orders.at[b->order].phase;
    return a->thread == b->thread && (p | q) > 1 && !(p & q);
}

/* `a` frees what it passed to a thread that may still use it: a thread that frees usually waits for others somehow, but
 * here nothing else could tell it. */
static bool frees_what_it_gave(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    return a->flags & DH_SYMEX_FREE && b->flags & (DH_SYMEX_OWN | DH_SYMEX_OWN_REACHED) && a->thread != b->thread &&
           w->threads.at[b->thread].creators >> a->thread & 1;
}

/* All arguments that do not depend on which bytes are accessed. */
static enum dh_argument argue_apart(struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b,
                                    bool weak)
{
    if (a->kind != DH_SYMEX_WRITE && b->kind != DH_SYMEX_WRITE)
        return DH_ARGUMENT_READS;
    if (a->flags & b->flags & DH_SYMEX_ATOMIC)
        return DH_ARGUMENT_ATOMIC;
    if (a->thread == b->thread && w->threads.at[a->thread].unique)
        return DH_ARGUMENT_ONE_THREAD;
    if (a->thread == b->thread && a->only_instance && a->only_instance == b->only_instance &&
        w->threads.at[a->thread].own_argument)
        return DH_ARGUMENT_ONE_INSTANCE;
    if (w->threads.at[a->thread].sequential || w->threads.at[b->thread].sequential)
        return DH_ARGUMENT_ALONE;
    if (!weak && (a->flags | b->flags) & DH_SYMEX_FRESH)
        return DH_ARGUMENT_FRESH;
    if (dh_before_start(w, a, b) || dh_before_start(w, b, a))
        return DH_ARGUMENT_START;
    if (dh_after_join(w, a, b) || dh_after_join(w, b, a) || dh_threads_alternate(w, a->thread, b->thread))
        return DH_ARGUMENT_JOIN;
    enum dh_argument lock = common_lock(w, a, b);
    if (is_not_heuristic(lock))
        return lock;
    if (a->flags & b->flags & DH_SYMEX_ALLOCATED_HERE)
        return DH_ARGUMENT_OWN_MADE;
    if (own_objects(w, a, b))
        return DH_ARGUMENT_OWN;
    if (handed_over(w, a, b) || handed_over(w, b, a))
        return DH_ARGUMENT_HANDED;
    if (lock != DH_ARGUMENT_COUNT)
        return lock;
    if (own_objects_nearly(w, a, b))
        return DH_ARGUMENT_OWN_NEAR;
    if (after_end(w, a, b) || after_end(w, b, a) || dh_threads_alternate_heuristically(w, a->thread, b->thread))
        return DH_ARGUMENT_HEURISTIC_JOIN;
    if (apart_by_barrier(w, a, b))
        return DH_ARGUMENT_BARRIER;
    if ((a->flags | b->flags) & DH_SYMEX_CONSTRUCTION || a->flags & b->flags & DH_SYMEX_SOLELY_OWNED)
        return DH_ARGUMENT_OWNERS;
    if ((a->flags | b->flags) & DH_SYMEX_FREE && !frees_what_it_gave(w, a, b) && !frees_what_it_gave(w, b, a))
        return DH_ARGUMENT_RELEASED;
    if ((a->flags | b->flags) & DH_SYMEX_UNWINDING)
        return DH_ARGUMENT_UNWINDING;
    if ((a->flags | b->flags) & DH_SYMEX_IGNORED)
        return DH_ARGUMENT_INTENDED;
    return DH_ARGUMENT_COUNT;
}

/* Unification lost precision here: compare declared names. */
static bool is_imprecise(const struct dh_symex *w, uint32_t node)
{
    enum { MANY = 24 };
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t first = g->nodes.at[node].origin, at = first;
    unsigned n = 0;
    if (g->nodes.at[node].flags & DH_NODE_COLLAPSED || first == DH_NO_NODE)
        return g->nodes.at[node].flags & DH_NODE_COLLAPSED;
    do
        at = g->origins.at[at].next;
    while (at != first && ++n < MANY);
    return n == MANY;
}

static bool have_one_name(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    uint32_t name = dh_source_field_id(w, a->inst);
    return name && name == dh_source_field_id(w, b->inst);
}

static enum dh_argument argue_place(struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (!dh_events_may_overlap(w, a, b))
        return DH_ARGUMENT_DISJOINT;
    if (own_parts(w, a, b))
        return DH_ARGUMENT_OWN_PART;
    if (!w->sites)
        return DH_ARGUMENT_COUNT;
    bool same = dh_source_may_be_same(w, a->inst, b->inst) && (!is_imprecise(w, a->node) || have_one_name(w, a, b));
    return same ? DH_ARGUMENT_COUNT : DH_ARGUMENT_NAMES;
}

enum dh_argument dh_conflicts_argue(struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b,
                                    bool weak)
{
    enum dh_argument apart = argue_apart(w, a, b, weak), place = argue_place(w, a, b);
    enum dh_argument g = is_not_heuristic(apart) || place == DH_ARGUMENT_COUNT ? apart : place;
    return g == DH_ARGUMENT_COUNT && dh_events_never_alias(w, a, b) ? DH_ARGUMENT_OBJECTS : g;
}

/* ---- all events of one object ---- */

/* Events with the same protection: they differ in instruction and offset only. By offset. */
struct group {
    uint32_t first, n; /* in sorted */
    uint32_t widest;   /* 0: some may access any offset */
    uint32_t n_unsafe;
};

struct search {
    struct dh_conflicts *c;
    uint32_t *sorted; /* accesses by object, then by protection, then by offset */
    uint32_t n;
    uint32_t *cover, *kept;      /* by event: the event that represents it; scratch */
    DH_VEC(struct group) groups; /* of the object at work */
    DH_VEC(uint32_t) escaped;    /* pairs: node, conflict that let it escape */
    struct dh_u64_set pairs;     /* of instructions that were reported for this object */
    struct dh_heuristics heuristics;
    uint32_t *names; /* by instruction, 0 = not asked yet or none */
    bool by_name;    /* accesses of the object at work are compared with those of the same name */
    uint32_t cause;
    size_t from;       /* first conflict of the object */
    uint8_t *partners; /* by instruction: in how many conflicts of the object */
    unsigned enough;   /* partners that are reported for one instruction */
};

#define BY(x)                                                                                                          \
    if (a->x != b->x)                                                                                                  \
        return a->x < b->x ? -1 : 1;
static int compare_protection(const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    BY(node)
    BY(thread)
    BY(kind)
    BY(lockset)
    BY(order)
    BY(flags)
    BY(loop)
    BY(only_instance)
    BY(element_joined)
    BY(flags_seen)
    return 0;
}

static int compare_identity(const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    BY(inst)
    BY(thread)
    BY(node)
    BY(offset)
    BY(kind)
    BY(flags)
    BY(size)
    BY(stride)
    BY(index_extent)
    BY(loop)
    BY(only_instance)
    BY(element_joined)
    BY(flags_seen)
    return 0;
}

static int compare_place(const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    BY(offset)
    BY(size)
    BY(stride)
    BY(index_extent)
    BY(inst)
    return 0;
}
#undef BY

static const struct dh_symex_event *events_to_sort;
static const struct dh_lockset *locksets_to_sort;
static int by_protection(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = compare_protection(&events_to_sort[x], &events_to_sort[y]);
    if (!c)
        c = compare_place(&events_to_sort[x], &events_to_sort[y]);
    return c ? c : (x > y) - (x < y);
}

static int by_identity(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = compare_identity(&events_to_sort[x], &events_to_sort[y]);
    if (!c) { /* few locks first */
        uint32_t p = locksets_to_sort[events_to_sort[x].lockset].n, q = locksets_to_sort[events_to_sort[y].lockset].n;
        c = (p > q) - (p < q);
    }
    return c ? c : (x > y) - (x < y);
}

static bool holds(const struct dh_symex *w, const struct dh_lockset *all, const struct dh_symex_lock *h)
{
    for (uint32_t n = 0; n < all->n; n++) {
        const struct dh_symex_lock *e = &w->held.at[all->first + n];
        if (e->node == h->node && e->offset == h->offset && e->mode <= h->mode && e->relation == h->relation &&
            e->element == h->element && e->sync_kind == h->sync_kind)
            return true;
    }
    return false;
}

/* The same access in another context with no less protection: what is safe for `a` is safe for `b`. */
static bool covers(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_order_state *o = &w->orders.at[a->order], *p = &w->orders.at[b->order];
    const struct dh_lockset *la = &w->locksets.at[a->lockset], *lb = &w->locksets.at[b->lockset];
    if (p->started & ~o->started || o->joined & ~p->joined || o->joined_heuristic & ~p->joined_heuristic ||
        p->phase & ~o->phase || la->n > lb->n)
        return false;
    for (uint32_t n = 0; n < la->n; n++)
        if (!holds(w, lb, &w->held.at[la->first + n]))
            return false;
    return true;
}

/* Drops events that are covered by another; `cover` keeps which one, for the verdict. */
static void drop_covered(struct search *s)
{
    enum { NEARBY = 24 };
    const struct dh_symex *w = s->c->symex;
    uint32_t kept = 0, bucket = 0;
    for (uint32_t n = 0; n < s->n; n++) {
        uint32_t at = s->sorted[n];
        if (!n || compare_identity(&w->events.at[s->sorted[n - 1]], &w->events.at[at]) != 0)
            bucket = kept;
        s->cover[at] = at;
        uint32_t last = kept - bucket < NEARBY ? kept : bucket + NEARBY;
        for (uint32_t k = bucket; k < last && s->cover[at] == at; k++)
            if (covers(w, &w->events.at[s->kept[k]], &w->events.at[at]))
                s->cover[at] = s->kept[k];
        if (s->cover[at] == at)
            s->kept[kept++] = at;
    }
    memcpy(s->sorted, s->kept, kept * sizeof *s->sorted);
    s->n = kept;
}

static void sort_events(struct search *s)
{
    struct dh_symex *w = s->c->symex;
    s->sorted = dh_xmalloc(3 * (w->events.n + 1) * sizeof *s->sorted);
    s->cover = s->sorted + w->events.n + 1;
    s->kept = s->cover + w->events.n + 1;
    for (uint32_t n = 0; n < w->events.n; n++)
        if (w->events.at[n].kind == DH_SYMEX_READ || w->events.at[n].kind == DH_SYMEX_WRITE)
            s->sorted[s->n++] = n;
    events_to_sort = w->events.at;
    locksets_to_sort = w->locksets.at;
    qsort(s->sorted, s->n, sizeof *s->sorted, by_identity);
    drop_covered(s);
    qsort(s->sorted, s->n, sizeof *s->sorted, by_protection);
}

static const struct dh_symex_event *event_at(const struct search *s, uint32_t n)
{
    return &s->c->symex->events.at[s->sorted[n]];
}

static bool is_collapsed(const struct search *s, uint32_t first, uint32_t end)
{
    const struct dh_heap_graph *g = &s->c->symex->points_to->graph;
    return first < end && g->nodes.at[event_at(s, first)->node].flags & DH_NODE_COLLAPSED;
}

static void make_groups(struct search *s, uint32_t first, uint32_t end)
{
    /* Strict: any element of an array that came through a parameter looks like the first one. */
    bool collapsed = is_collapsed(s, first, end) || s->c->strict;
    s->groups.n = 0;
    for (uint32_t n = first; n < end;) {
        struct group k = {.first = n};
        bool loose = collapsed;
        for (; n < end && compare_protection(event_at(s, k.first), event_at(s, n)) == 0; n++) {
            const struct dh_symex_event *e = event_at(s, n);
            loose |= !e->size || e->stride || e->flags & DH_SYMEX_UNKNOWN_INDEX;
            k.n_unsafe += s->c->unsafe[s->sorted[n]];
            if (e->size > k.widest)
                k.widest = e->size;
        }
        k.n = n - k.first;
        k.widest = loose ? 0 : k.widest;
        dh_vec_push(&s->groups, k);
    }
}

/* ---- pairs of instructions, each once ---- */

static bool add_pair(struct search *s, uint32_t a, uint32_t b)
{
    return dh_u64_set_add(&s->pairs, a < b ? dh_pair_key(a, b) : dh_pair_key(b, a));
}

static bool is_full(const struct search *s)
{
    return s->c->found.n - s->from >= s->c->max_pairs;
}

static bool has_enough(const struct search *s, uint32_t a, uint32_t b)
{
    const struct dh_symex_event *e = s->c->symex->events.at;
    /* An instruction against itself in another thread is never one of many. */
    return is_full(s) ||
           (e[a].inst != e[b].inst && s->partners[e[a].inst] >= s->enough && s->partners[e[b].inst] >= s->enough);
}

static void report(struct search *s, uint32_t x, uint32_t y)
{
    struct dh_conflicts *c = s->c;
    const struct dh_symex_event *e = c->symex->events.at;
    if (has_enough(s, x, y) || dh_node_is_library_state(c->symex, e[x].node) || !add_pair(s, e[x].inst, e[y].inst))
        return;
    s->partners[e[x].inst] += s->partners[e[x].inst] < UINT8_MAX;
    s->partners[e[y].inst] += s->partners[e[y].inst] < UINT8_MAX;
    dh_vec_push(&c->found, (struct dh_conflict){x, y, e[x].node, e[x].offset, DH_CONFLICT_OTHER, s->cause});
}

static bool by_heuristic(struct search *s, uint32_t a, uint32_t b)
{
    enum dh_argument g = dh_heuristics_argue(&s->heuristics, &s->c->symex->events.at[a], &s->c->symex->events.at[b]);
    if (g != DH_ARGUMENT_COUNT)
        s->c->by_argument[g]++;
    return g != DH_ARGUMENT_COUNT;
}

/* No proof rules out the two groups: which of their accesses overlap? */
static void note_conflict(struct search *s, uint32_t x, uint32_t y, enum dh_argument apart, struct group *ga,
                          struct group *gb)
{
    struct dh_conflicts *c = s->c;
    uint32_t a = s->sorted[x], b = s->sorted[y];
    if (c->unsafe[a] && c->unsafe[b] && (apart != DH_ARGUMENT_COUNT || has_enough(s, a, b)))
        return;
    enum dh_argument place = argue_place(c->symex, &c->symex->events.at[a], &c->symex->events.at[b]);
    c->pairs++;
    if (place == DH_ARGUMENT_DISJOINT && !c->strict) {
        c->by_argument[place]++;
        return;
    }
    ga->n_unsafe += !c->unsafe[a];
    c->unsafe[a] = 1;
    gb->n_unsafe += !c->unsafe[b];
    c->unsafe[b] = 1;
    if (apart == DH_ARGUMENT_COUNT && place == DH_ARGUMENT_COUNT && !has_enough(s, a, b) && !by_heuristic(s, a, b))
        report(s, a, b);
}

static uint32_t first_reaching(const struct search *s, const struct group *g, int64_t offset)
{
    uint32_t low = g->first, high = g->first + g->n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if ((int64_t)event_at(s, mid)->offset + g->widest <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* No pair of them can add anything. */
static bool is_done(const struct search *s, const struct group *a, const struct group *b)
{
    return is_full(s) && a->n_unsafe == a->n && b->n_unsafe == b->n;
}

/* ---- collapsed objects: by declared name ---- */

static struct search *search_to_sort;
static uint32_t name_of(struct search *s, uint32_t event)
{
    const struct dh_symex *w = s->c->symex;
    uint32_t *known = &s->names[w->events.at[event].inst];
    if (!*known)
        *known = dh_source_field_id(w, w->events.at[event].inst);
    return *known;
}

static int by_name(const void *a, const void *b)
{
    uint32_t x = name_of(search_to_sort, *(const uint32_t *)a), y = name_of(search_to_sort, *(const uint32_t *)b);
    return (x > y) - (x < y);
}

static void all_are_unsafe(struct search *s, struct group *g)
{
    for (uint32_t n = g->first; n < g->first + g->n && g->n_unsafe < g->n; n++)
        s->c->unsafe[s->sorted[n]] = 1;
    g->n_unsafe = g->n;
}

static uint32_t first_named(struct search *s, const struct group *g, uint32_t name)
{
    uint32_t low = g->first, high = g->first + g->n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (name_of(s, s->sorted[mid]) < name)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void meet_by_name(struct search *s, struct group *a, struct group *b, enum dh_argument apart)
{
    all_are_unsafe(s, a);
    all_are_unsafe(s, b);
    for (uint32_t x = a->first; x < a->first + a->n && apart == DH_ARGUMENT_COUNT && !is_full(s); x++) {
        uint32_t name = name_of(s, s->sorted[x]);
        for (uint32_t y = name ? first_named(s, b, name) : b->first + b->n;
             y < b->first + b->n && name_of(s, s->sorted[y]) == name; y++)
            note_conflict(s, x, y, apart, a, b);
    }
}

static void meet_groups(struct search *s, struct group *a, struct group *b, enum dh_argument apart)
{
    bool loose = !a->widest || !b->widest;
    for (uint32_t x = a->first; x < a->first + a->n && !is_done(s, a, b); x++) {
        const struct dh_symex_event *e = event_at(s, x);
        if (is_full(s) && s->c->unsafe[s->sorted[x]] && b->n_unsafe == b->n)
            continue;
        uint32_t y = loose ? b->first : first_reaching(s, b, e->offset);
        for (; y < b->first + b->n; y++) {
            if (!loose && event_at(s, y)->offset >= (int64_t)e->offset + e->size)
                break;
            note_conflict(s, x, y, apart, a, b);
        }
    }
}

static void judge(struct search *s, struct group *a, struct group *b, bool weak)
{
    struct dh_conflicts *c = s->c;
    const struct dh_symex_event *ea = event_at(s, a->first), *eb = event_at(s, b->first);
    /* In a weak round only pairs of a fresh access and one that is not are new. */
    if ((weak && !((ea->flags ^ eb->flags) & DH_SYMEX_FRESH)) || is_done(s, a, b))
        return;
    enum dh_argument g = argue_apart(c->symex, ea, eb, weak);
    if (g < DH_ARGUMENT_COUNT)
        c->by_argument[g] += (uint64_t)a->n * b->n;
    c->pairs++;
    /* A lock does not protect from a free: the other one finds the object gone. */
    bool gone = c->strict && g == DH_ARGUMENT_LOCK && (ea->flags | eb->flags) & DH_SYMEX_FREE;
    if (g == DH_ARGUMENT_COUNT || gone || !(c->trusted >> g & 1))
        (s->by_name ? meet_by_name : meet_groups)(s, a, b, g);
}

/* ---- what kind of conflict ---- */

static int by_offset(const void *a, const void *b)
{
    const struct dh_symex_event *x = &events_to_sort[*(const uint32_t *)a], *y = &events_to_sort[*(const uint32_t *)b];
    return (x->offset > y->offset) - (x->offset < y->offset);
}

struct field {
    bool read;   /* at all */
    bool locked; /* all writes of it and this one hold a lock in common */
};

/* `fields`: events of the object by offset. */
static struct field look_at_field(const struct search *s, const uint32_t *fields, uint32_t n,
                                  const struct dh_symex_event *write)
{
    const struct dh_symex *w = s->c->symex;
    struct field f = {.locked = w->locksets.at[write->lockset].n > 0};
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (w->events.at[fields[mid]].offset < write->offset)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < n && w->events.at[fields[low]].offset == write->offset; low++) {
        const struct dh_symex_event *e = &w->events.at[fields[low]];
        f.read |= e->kind == DH_SYMEX_READ;
        if (f.locked && e->kind == DH_SYMEX_WRITE && !(e->flags & DH_SYMEX_FRESH) && e != write)
            f.locked = common_lock(w, write, e) != DH_ARGUMENT_COUNT;
    }
    return f;
}

static void classify(struct search *s, uint32_t first, uint32_t end)
{
    struct dh_conflicts *c = s->c;
    const struct dh_symex *w = c->symex;
    if (s->from == c->found.n)
        return;
    uint32_t n = end - first;
    memcpy(s->kept, s->sorted + first, n * sizeof *s->kept);
    qsort(s->kept, n, sizeof *s->kept, by_offset);
    for (size_t k = s->from; k < c->found.n; k++) {
        const struct dh_symex_event *a = &w->events.at[c->found.at[k].first], *b = &w->events.at[c->found.at[k].second];
        const struct dh_symex_event *write = a->kind == DH_SYMEX_WRITE ? a : b;
        struct field f = {.read = true};
        if (s->enough == ENOUGH) /* else the field is not known */
            f = look_at_field(s, s->kept, n, write);
        f.read |= a->kind == DH_SYMEX_READ || b->kind == DH_SYMEX_READ;
        c->found.at[k].class = !f.read                ? DH_CONFLICT_NO_READ
                               : shares_lock(w, a, b) ? DH_CONFLICT_LOCK_NOT_UNIQUE
                               : f.locked             ? DH_CONFLICT_ALL_WRITES_LOCKED
                                                      : DH_CONFLICT_OTHER;
    }
}

static void note_escape(struct search *s, size_t from)
{
    struct dh_conflicts *c = s->c;
    struct dh_heap_graph *g = &c->symex->points_to->graph;
    for (size_t n = from; n < c->found.n; n++) {
        struct dh_heap_cell to =
            dh_heap_graph_find_pointee(g, (struct dh_heap_cell){c->found.at[n].node, c->found.at[n].offset});
        if (to.node == DH_NO_NODE)
            continue;
        dh_vec_push(&s->escaped, to.node);
        dh_vec_push(&s->escaped, (uint32_t)n);
    }
}

/* Strict: a pointer that is read by an unordered access makes all that it reaches unordered. */
static bool lets_escape(const struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->c->symex->events.at[event];
    bool weak = e->flags & DH_SYMEX_ATOMIC && s->c->symex->program->insts.at[e->inst].order == DH_ORDER_RELAXED;
    return s->c->unsafe[event] || weak;
}

static void escape_to(struct search *s, struct dh_heap_cell to)
{
    struct dh_heap_cell now = dh_heap_graph_find(&s->c->symex->points_to->graph, to);
    if (now.node == DH_NO_NODE)
        return;
    dh_vec_push(&s->escaped, now.node);
    dh_vec_push(&s->escaped, DH_NONE);
}

static void note_strictly(struct search *s, uint32_t first, uint32_t end)
{
    struct dh_heap_graph *g = &s->c->symex->points_to->graph;
    bool all = false;
    for (uint32_t n = first; n < end && !all; n++) {
        const struct dh_symex_event *e = event_at(s, n);
        if (!lets_escape(s, s->sorted[n]))
            continue;
        all = !e->size || e->size > 8 || e->stride || e->flags & DH_SYMEX_UNKNOWN_INDEX || is_collapsed(s, first, end);
        if (!all)
            escape_to(s, dh_heap_graph_find_pointee(g, (struct dh_heap_cell){e->node, e->offset}));
    }
    const struct dh_heap_node *node = all ? &g->nodes.at[event_at(s, first)->node] : NULL;
    for (unsigned k = 0; node && k < node->n_edges; k++)
        escape_to(s, node->edges[k].to);
}

/* A pointer published by a relaxed atomic: what it reaches is unordered, too. */
static void note_relaxed(struct search *s)
{
    const struct dh_symex *w = s->c->symex;
    const struct dh_atomic_sync *m = &w->state->atomics;
    for (size_t n = 0; n < m->uses.n && !s->c->strict; n++) {
        const struct dh_atomic_use *u = &m->uses.at[n];
        bool named = w->points_to->graph.nodes.at[u->node].flags & DH_NODE_COLLAPSED;
        if (w->program->insts.at[u->inst].op == DH_I_STORE && !u->releases && !u->initial && !u->valued &&
            m->roles[u->inst] & DH_ATOMIC_WITHOUT_LOCK && !named)
            escape_to(s, dh_heap_graph_find_pointee(&s->c->symex->points_to->graph,
                                                    (struct dh_heap_cell){u->node, u->offset}));
    }
}

static void search_object(struct search *s, uint32_t first, uint32_t end, bool weak, uint32_t cause)
{
    s->from = s->c->found.n;
    s->cause = cause;
    dh_u64_set_clear(&s->pairs);
    for (uint32_t n = first; n < end; n++)
        s->partners[event_at(s, n)->inst] = 0;
    make_groups(s, first, end);
    s->by_name = s->c->symex->sites && is_collapsed(s, first, end);
    search_to_sort = s;
    for (size_t n = 0; s->by_name && n < s->groups.n; n++)
        qsort(s->sorted + s->groups.at[n].first, s->groups.at[n].n, sizeof *s->sorted, by_name);
    s->enough = is_collapsed(s, first, end) ? ENOUGH_BLURRED : ENOUGH;
    for (size_t a = 0; a < s->groups.n; a++)
        for (size_t b = a; b < s->groups.n && !dh_time_limit_over(s->c->symex->limit); b++)
            if (event_at(s, s->groups.at[a].first)->kind == DH_SYMEX_WRITE ||
                event_at(s, s->groups.at[b].first)->kind == DH_SYMEX_WRITE)
                judge(s, &s->groups.at[a], &s->groups.at[b], weak);
    classify(s, first, end);
    note_escape(s, s->from);
    if (s->c->strict)
        note_strictly(s, first, end);
}

static uint32_t object_end(const struct search *s, uint32_t first)
{
    const struct dh_symex_event *e = s->c->symex->events.at;
    uint32_t end = first;
    while (end < s->n && e[s->sorted[end]].node == e[s->sorted[first]].node)
        end++;
    return end;
}

static uint32_t object_begin(const struct search *s, uint32_t node)
{
    uint32_t low = 0, high = s->n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (s->c->symex->events.at[s->sorted[mid]].node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* §4.6: what was written before an unordered escape is not ordered either; nor what is reachable from it. */
static void search_escaped(struct search *s)
{
    struct dh_heap_graph *g = &s->c->symex->points_to->graph;
    uint8_t *seen = dh_xcalloc(g->nodes.n + 1, 1);
    for (size_t n = 0; n + 1 < s->escaped.n && !dh_time_limit_over(s->c->symex->limit); n += 2) {
        uint32_t node = s->escaped.at[n], cause = s->escaped.at[n + 1];
        if (seen[node])
            continue;
        seen[node] = 1;
        uint32_t first = object_begin(s, node), end = first < s->n ? object_end(s, first) : first;
        bool there = first < s->n && s->c->symex->events.at[s->sorted[first]].node == node;
        if (there)
            search_object(s, first, end, true, cause);
        for (unsigned k = 0; k < g->nodes.at[node].n_edges; k++) {
            dh_vec_push(&s->escaped, dh_heap_graph_find(g, g->nodes.at[node].edges[k].to).node);
            dh_vec_push(&s->escaped, cause);
        }
    }
    free(seen);
}

void dh_conflicts_init(struct dh_conflicts *c, struct dh_symex *w)
{
    *c = (struct dh_conflicts){.symex = w, .max_pairs = 8192};
    for (unsigned a = 0; a < DH_ARGUMENT_COUNT; a++)
        c->trusted |= (uint64_t)is_not_heuristic(a) << a;
    c->unsafe = dh_xcalloc(w->events.n + 1, 1);
}

void dh_conflicts_run(struct dh_conflicts *c)
{
    struct search s = {.c = c};
    s.partners = dh_xcalloc(c->symex->program->insts.n + 1, 1);
    dh_heuristics_init(&s.heuristics, c->symex);
    s.names = dh_xcalloc(c->symex->program->insts.n + 1, sizeof *s.names);
    sort_events(&s);
    for (uint32_t n = 0; n < s.n;) {
        uint32_t end = object_end(&s, n);
        bool left = dh_time_limit_over(c->symex->limit);
        c->n_objects++;
        c->n_objects_left += left;
        if (!left)
            search_object(&s, n, end, false, DH_NONE);
        n = end;
    }
    note_relaxed(&s);
    if (!c->sequential)
        search_escaped(&s);
    for (uint32_t n = 0; n < c->symex->events.n; n++)
        if (c->symex->events.at[n].kind == DH_SYMEX_READ || c->symex->events.at[n].kind == DH_SYMEX_WRITE)
            c->unsafe[n] |= c->unsafe[s.cover[n]];
    dh_heuristics_release(&s.heuristics);
    free(s.names);
    free(s.sorted);
    free(s.partners);
    dh_vec_release(&s.groups);
    dh_u64_set_release(&s.pairs);
    dh_vec_release(&s.escaped);
}

void dh_conflicts_release(struct dh_conflicts *c)
{
    dh_vec_release(&c->found);
    free(c->unsafe);
}
