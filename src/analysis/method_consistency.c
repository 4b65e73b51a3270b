/* Finds pairs of accesses of one function of which one depends on the other (dependence.h), and the events of other
 * threads that can come between them (symex.h). */
#include "analysis/method_consistency.h"

#include "analysis/atomic_publication.h"
#include "analysis/dependence.h"
#include "analysis/races.h"
#include "analysis/source_names.h"
#include "analysis/thread_coexistence.h"
#include "analysis/wait_order.h"
#include "base/alloc.h"

enum { TRIES_MAX = 256, WRITERS_MAX = 256, LOCKS_KEPT = 4 };

/* Two accesses of a function that may have to be atomic together. */
struct candidate {
    enum dh_violation_kind kind;
    uint32_t function;
    struct dh_dependent_access first, second;
    uint32_t locks[LOCKS_KEPT]; /* instructions that took what is held from the one to the other */
    uint32_t n_locks;
    bool takes; /* the function takes locks itself */
};

/* An access in a critical section. */
struct member {
    uint32_t view, inst;
};

struct finder {
    struct dh_inconsistencies *out;
    struct dh_symex *w;
    const struct dh_consistency_options *how;
    struct dh_dependence dependence;
    struct dh_held_locks held_locks;
    struct dh_publication publication;
    struct dh_coexistence coexistence;
    struct dh_wait_order wait_order;
    uint8_t *hot;                   /* by instruction */
    uint32_t *function;             /* by instruction: where it stands */
    struct dh_heap_cell *only_cell; /* by instruction: the one cell that it accesses in all contexts */
    uint32_t *head, *next;          /* events by instruction */
    struct event_index {
        uint32_t *at, n;
    } writes, reads;      /* events by object and offset */
    uint32_t *frame_head; /* by function: frame + 1 */
    DH_VEC(uint32_t) frame_next;
    uint8_t *once; /* by instruction: writes that the first one to come there does */
    DH_VEC(struct candidate) candidates;
    DH_VEC(struct member) members; /* in order of views */
    DH_VEC(uint32_t) view_first;   /* by view: its first member */
    uint32_t *member_head;         /* by instruction: member + 1 */
    DH_VEC(uint32_t) member_next;
};

static bool same_term(struct finder *f, struct dh_term a, struct dh_term b)
{
    struct dh_value_numbering *x = &f->w->state->values;
    return a.expr && b.expr && a.exact && b.exact && dh_expr_canonical(x, a.expr) == dh_expr_canonical(x, b.expr);
}

/* ---- events ---- */

/* Where an event lies in its object; in a collapsed object, the function that accesses it: see is_blurred. */
static int64_t key_of(const struct finder *f, const struct dh_symex_event *e)
{
    bool blurred = f->w->points_to->graph.nodes.at[e->node].flags & DH_NODE_COLLAPSED;
    return blurred ? (int64_t)f->function[e->inst] : e->offset;
}

static const struct finder *finder_to_sort;
static int by_place(const void *a, const void *b)
{
    uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
    const struct dh_symex_event *x = &finder_to_sort->w->events.at[m], *y = &finder_to_sort->w->events.at[n];
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    int64_t p = key_of(finder_to_sort, x), q = key_of(finder_to_sort, y);
    if (p != q)
        return p < q ? -1 : 1;
    return (m > n) - (m < n);
}

static void index_functions(struct finder *f)
{
    const struct dh_program *p = f->w->program;
    f->function = dh_xcalloc(p->insts.n, sizeof *f->function);
    for (size_t b = 0; b < p->blocks.n; b++)
        for (uint32_t i = 0; i < p->blocks.at[b].n_insts; i++)
            f->function[p->blocks.at[b].inst + i] = p->blocks.at[b].function;
}

static void index_events(struct finder *f)
{
    const struct dh_symex *w = f->w;
    f->head = dh_xcalloc(w->program->insts.n, sizeof *f->head);
    f->next = dh_xcalloc(w->events.n, sizeof *f->next);
    f->writes.at = dh_xcalloc(w->events.n, sizeof *f->writes.at);
    f->reads.at = dh_xcalloc(w->events.n, sizeof *f->reads.at);
    for (uint32_t n = (uint32_t)w->events.n; n-- > 0;) {
        const struct dh_symex_event *e = &w->events.at[n];
        f->next[n] = f->head[e->inst];
        f->head[e->inst] = n + 1;
        struct event_index *to = e->kind == DH_SYMEX_WRITE ? &f->writes : &f->reads;
        if (e->kind <= DH_SYMEX_WRITE && !(e->flags & (DH_SYMEX_FREE | DH_SYMEX_LOCK_USE | DH_SYMEX_IGNORED)))
            to->at[to->n++] = n;
    }
    finder_to_sort = f;
    qsort(f->writes.at, f->writes.n, sizeof *f->writes.at, by_place);
    qsort(f->reads.at, f->reads.n, sizeof *f->reads.at, by_place);
}

static uint32_t size_of(const struct dh_symex_event *e)
{
    return e->size ? e->size : 8;
}

/* First one of the object that may reach the place. */
static uint32_t first_of(const struct finder *f, const struct event_index *all, const struct dh_symex_event *e)
{
    enum { WIDEST = 64 };
    bool blurred = f->w->points_to->graph.nodes.at[e->node].flags & DH_NODE_COLLAPSED;
    int64_t from = key_of(f, e) - (blurred ? 0 : WIDEST);
    uint32_t low = 0, high = all->n;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct dh_symex_event *at = &f->w->events.at[all->at[mid]];
        if (at->node < e->node || (at->node == e->node && key_of(f, at) < from))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool is_within(const struct finder *f, const struct event_index *all, const struct dh_symex_event *e, uint32_t n)
{
    const struct dh_symex_event *o = n < all->n ? &f->w->events.at[all->at[n]] : NULL;
    if (!o || o->node != e->node)
        return false;
    bool blurred = f->w->points_to->graph.nodes.at[e->node].flags & DH_NODE_COLLAPSED;
    return key_of(f, o) < key_of(f, e) + (blurred ? 1 : size_of(e));
}

static bool overlaps(const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    return a->node == b->node && a->offset < (int64_t)b->offset + size_of(b) &&
           b->offset < (int64_t)a->offset + size_of(a);
}

static bool runs_function(const struct finder *f, uint32_t thread, uint32_t function)
{
    for (uint32_t k = f->frame_head[function]; k; k = f->frame_next.at[k - 1])
        if (f->w->state->activations.at[k - 1]->thread == thread)
            return true;
    return false;
}

/* A variable on the stack of a function that both threads run: each has its own. */
static bool has_own_slot(const struct finder *f, const struct dh_symex_event *e, const struct dh_symex_event *other)
{
    const struct dh_heap_graph *g = &f->w->points_to->graph;
    uint32_t first = g->nodes.at[e->node].origin, at = first;
    if (first == DH_NO_NODE)
        return false;
    do {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind != DH_ORIGIN_SLOT)
            return false;
        uint32_t function = f->function[o->index];
        if (!runs_function(f, e->thread, function) || !runs_function(f, other->thread, function))
            return false;
        at = o->next;
    } while (at != first);
    return true;
}

static struct dh_term address_of(struct finder *f, const struct dh_symex_event *e)
{
    const struct dh_program *p = f->w->program;
    return dh_value_term(&f->w->state->values, f->function[e->inst], dh_operand(p, &p->insts.at[e->inst], 0));
}

/* In a collapsed object, whose fields are not known, only accesses of one function to one expression are of one
 * variable. */
static bool is_blurred(struct finder *f, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    if (!(f->w->points_to->graph.nodes.at[a->node].flags & DH_NODE_COLLAPSED))
        return false;
    if (f->function[a->inst] != f->function[b->inst])
        return true;
    struct dh_term x = address_of(f, a), y = address_of(f, b);
    return x.offset != y.offset || !same_term(f, x, y);
}

/* Nothing but locks orders the two: a thread that holds none in common can come between. */
static bool interferes(struct finder *f, const struct dh_symex_event *e, const struct dh_symex_event *write)
{
    struct dh_symex_event a = *e, b = *write;
    if (!overlaps(e, write) || !(f->coexistence.with[e->thread] >> write->thread & 1) || has_own_slot(f, e, write) ||
        is_blurred(f, e, write))
        return false;
    a.flags &= ~(uint32_t)DH_SYMEX_ATOMIC;
    b.flags &= ~(uint32_t)DH_SYMEX_ATOMIC;
    if (a.kind == DH_SYMEX_READ && b.kind == DH_SYMEX_READ)
        return false;
    switch (dh_conflicts_argue(f->w, &a, &b, false)) {
    case DH_ARGUMENT_LOCK:
    case DH_ARGUMENT_INSTANCE_LOCK:
    case DH_ARGUMENT_OWNER_LOCK:
    case DH_ARGUMENT_INDEX_LOCK:
    case DH_ARGUMENT_LOCK_NEAR:
    case DH_ARGUMENT_LOCK_REACHED:
    case DH_ARGUMENT_ATOMIC_LOCK:
        return true;
    case DH_ARGUMENT_COUNT:
        return !dh_publication_orders(&f->publication, e, write);
    default:
        return false;
    }
}

static bool is_judged(const struct dh_symex_event *e)
{
    return e->kind <= DH_SYMEX_WRITE &&
           !(e->flags & (DH_SYMEX_FREE | DH_SYMEX_LOCK_USE | DH_SYMEX_IGNORED | DH_SYMEX_UNKNOWN_INDEX));
}

/* Both ends of a possible interference. */
static void mark_interfering(struct finder *f, const struct dh_symex_event *e)
{
    uint32_t first = first_of(f, &f->writes, e);
    for (uint32_t n = first; n < first + WRITERS_MAX && is_within(f, &f->writes, e, n); n++) {
        const struct dh_symex_event *write = &f->w->events.at[f->writes.at[n]];
        if ((!f->hot[e->inst] || !f->hot[write->inst]) && interferes(f, e, write))
            f->hot[e->inst] = f->hot[write->inst] = 1;
    }
}

static void find_interfering(struct finder *f)
{
    f->hot = dh_xcalloc(f->w->program->insts.n, 1);
    for (uint32_t n = 0; n < f->w->events.n; n++)
        if (is_judged(&f->w->events.at[n]))
            mark_interfering(f, &f->w->events.at[n]);
}

/* ---- variables ---- */

/* The one place that an instruction accesses in all contexts, DH_NO_CELL: there are several. */
static struct dh_heap_cell only_place(const struct finder *f, uint32_t inst)
{
    struct dh_heap_cell at = DH_NO_CELL;
    for (uint32_t n = f->head[inst]; n; n = f->next[n - 1]) {
        const struct dh_symex_event *e = &f->w->events.at[n - 1];
        bool other = at.node != DH_NO_NODE && (at.node != e->node || at.offset != e->offset);
        if (other || e->stride || e->kind > DH_SYMEX_WRITE)
            return DH_NO_CELL;
        at = (struct dh_heap_cell){e->node, e->offset};
    }
    return at.node != DH_NO_NODE && dh_symex_is_unique(f->w, at.node) ? at : DH_NO_CELL;
}

static void index_places(struct finder *f)
{
    f->only_cell = dh_xcalloc(f->w->program->insts.n, sizeof *f->only_cell);
    for (uint32_t i = 0; i < f->w->program->insts.n; i++)
        f->only_cell[i] = f->hot[i] ? only_place(f, i) : DH_NO_CELL;
}

/* One variable of one object, whatever the object is. */
static bool same_variable(struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b)
{
    if (same_term(f, a->at, b->at))
        return a->at.offset == b->at.offset;
    struct dh_heap_cell x = f->only_cell[a->inst], y = f->only_cell[b->inst];
    return x.node != DH_NO_NODE && x.node == y.node && x.offset == y.offset;
}

/* Two fields of one object. */
static bool same_object(struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b)
{
    enum { LARGEST = 4096 };
    int64_t gap = a->at.offset - b->at.offset;
    return same_term(f, a->at, b->at) && gap != 0 && gap < LARGEST && gap > -LARGEST;
}

/* ---- steps of one function ---- */

static bool comes_before(const struct finder *f, uint32_t a, uint32_t b)
{
    const struct dh_program *p = f->w->program;
    const struct dh_cfg *flow = dh_symex_cfg(f->w, f->dependence.function);
    uint32_t x = dh_program_block_of(p, a) - flow->first, y = dh_program_block_of(p, b) - flow->first;
    return x == y ? a < b : flow->rank.at[x] < flow->rank.at[y];
}

/* Locks that are held from the earlier one to the later one. */
static dh_lock_bits common_holds(struct finder *f, uint32_t a, uint32_t b)
{
    bool first = comes_before(f, a, b);
    return dh_held_locks_between(&f->held_locks, first ? a : b, first ? b : a);
}

/* What a step has to do with others of its own critical section. */
static void note_sections(struct finder *f)
{
    struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++) {
        struct dh_dependent_access *s = &r->steps.at[n];
        if (dh_held_locks_at(&f->held_locks, s->point))
            s->traits |= DH_STEP_LOCKED;
        for (size_t k = 0; dh_held_locks_at(&f->held_locks, s->point) && k < r->steps.n; k++) {
            const struct dh_dependent_access *o = &r->steps.at[k];
            bool opposite = (o->traits ^ s->traits) & DH_STEP_WRITES;
            if (!opposite || !common_holds(f, s->point, o->point) || !same_variable(f, s, o))
                continue;
            if (!(s->traits & DH_STEP_WRITES))
                s->traits |= DH_STEP_CLAIMED;
            else if (o->point == s->point ? o->inst < s->inst : comes_before(f, o->point, s->point))
                s->traits |= DH_STEP_REREAD;
        }
    }
}

static bool stores_nonzero(const struct finder *f, uint32_t inst)
{
    const struct dh_program *p = f->w->program;
    int64_t number;
    return p->insts.at[inst].op == DH_I_STORE && dh_value_int(p, dh_operand(p, &p->insts.at[inst], 1), &number) &&
           number != 0;
}

/* The section sets the variable that it tested before it wrote: nobody writes a second time (003, Prog. 5.5). */
static bool is_latched(struct finder *f, const struct dh_dependent_access *write, uint32_t test)
{
    const struct dh_dependence *r = &f->dependence;
    const struct dh_dependent_access *t = &r->steps.at[test - r->n_params];
    if (!common_holds(f, t->point, write->point))
        return false;
    for (size_t n = 0; n < r->steps.n; n++) {
        const struct dh_dependent_access *s = &r->steps.at[n];
        if (s->traits & DH_STEP_WRITES && stores_nonzero(f, s->inst) && dh_sources_have(&s->by_control, test) &&
            common_holds(f, t->point, s->point) && same_variable(f, t, s))
            return true;
    }
    return false;
}

static void note_once(struct finder *f)
{
    const struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++) {
        const struct dh_dependent_access *s = &r->steps.at[n];
        for (unsigned k = 0; s->traits & DH_STEP_WRITES && k < s->by_control.n; k++)
            if (s->by_control.at[k] >= r->n_params && is_latched(f, s, s->by_control.at[k]))
                f->once[s->inst] = 1;
    }
}

static unsigned n_acquisitions(const struct finder *f, uint32_t hold)
{
    unsigned n = 0;
    for (size_t k = 0; k < f->held_locks.acquisitions.n; k++)
        n += f->held_locks.acquisitions.at[k].hold == hold;
    return n;
}

/* 003 §5.1: lock views, one for each critical section. */
static void note_views(struct finder *f)
{
    const struct dh_dependence *r = &f->dependence;
    uint8_t *done = dh_xcalloc(r->steps.n, 1);
    for (uint32_t h = 0; h < f->held_locks.holds.n; h++) {
        bool one = n_acquisitions(f, h) < 2;
        memset(done, 0, r->steps.n);
        for (size_t n = 0; n < r->steps.n; n++) {
            uint32_t view = (uint32_t)f->view_first.n, from = r->steps.at[n].point;
            if (done[n] || !(dh_held_locks_at(&f->held_locks, from) >> h & 1))
                continue;
            dh_vec_push(&f->view_first, (uint32_t)f->members.n);
            for (size_t k = n; k < r->steps.n; k++) {
                uint32_t to = r->steps.at[k].point;
                if (done[k] || !(dh_held_locks_at(&f->held_locks, to) >> h & 1) ||
                    !(one || common_holds(f, from, to) >> h & 1))
                    continue;
                done[k] = 1;
                dh_vec_push(&f->members, ((struct member){view, r->steps.at[k].inst}));
            }
        }
    }
    free(done);
}

static bool is_reread(struct finder *f, const struct dh_dependent_access *first,
                      const struct dh_dependent_access *second)
{
    const struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++) {
        const struct dh_dependent_access *s = &r->steps.at[n];
        bool there = s->point == second->point || common_holds(f, s->point, second->point);
        if (s != first && !(s->traits & DH_STEP_WRITES) && there && s != second && s->point != first->point &&
            same_variable(f, s, first))
            return true;
    }
    return false;
}

/* Done only if a read in its own section was still equal. */
static bool is_validated(struct finder *f, const struct dh_dependent_access *first, uint32_t source,
                         const struct dh_dependent_access *second)
{
    const struct dh_dependence *r = &f->dependence;
    for (unsigned n = 0; n < second->by_control.n; n++) {
        uint32_t at = second->by_control.at[n];
        if (at < r->n_params)
            continue;
        const struct dh_dependent_access *s = &r->steps.at[at - r->n_params];
        if (dh_sources_have(&s->by_equality, source) && same_variable(f, s, first))
            return true;
    }
    return false;
}

/* An atomic that is loaded and stored with chosen orders has one writer: else it would be one operation. */
static bool is_single_writers(const struct finder *f, const struct dh_dependent_access *a,
                              const struct dh_dependent_access *b)
{
    const struct dh_program *p = f->w->program;
    return a->traits & b->traits & DH_STEP_ATOMIC && p->insts.at[b->inst].order != DH_ORDER_SEQ_CST;
}

static bool is_pointer(const struct finder *f, uint32_t inst)
{
    const struct dh_program *p = f->w->program;
    const struct dh_function *of = &p->functions.at[f->function[inst]];
    uint32_t result = p->insts.at[inst].result;
    return result != DH_NONE && p->registers.at[of->registers + result] == DH_REG_POINTER;
}

/* What was taken from the head of a list goes back before what is the head by then. */
static bool is_put_back(struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b)
{
    return is_pointer(f, a->inst) && is_reread(f, a, b);
}

static bool judge_write(struct finder *f, const struct dh_dependent_access *a, uint32_t source,
                        const struct dh_dependent_access *b, enum dh_violation_kind *kind)
{
    if (b->traits & DH_STEP_COMPARES || is_validated(f, a, source, b))
        return false;
    if (dh_sources_have(&b->by_data, source)) {
        *kind = DH_VIOLATION_LOST_UPDATE;
        return !is_single_writers(f, a, b) && !is_put_back(f, a, b);
    }
    *kind = DH_VIOLATION_CHECK_THEN_SET;
    return dh_sources_have(&b->by_control, source) && comes_before(f, a->point, b->point) &&
           !(a->traits & b->traits & DH_STEP_ATOMIC) && !(b->traits & DH_STEP_REREAD) &&
           !(a->traits & DH_STEP_CLAIMED) && !is_reread(f, a, b);
}

/* A pointer that is followed; a number only where it is tested and used in one function. */
static bool is_used(const struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b)
{
    bool here = a->inst == a->point && b->inst == b->point;
    return b->traits & DH_STEP_CONSUMED && (here || is_pointer(f, b->inst));
}

static bool judge_read(struct finder *f, const struct dh_dependent_access *a, uint32_t source,
                       const struct dh_dependent_access *b, enum dh_violation_kind *kind)
{
    *kind = DH_VIOLATION_UNREPEATABLE_READ;
    if (dh_sources_have(&b->by_comparison, source))
        return true;
    *kind = DH_VIOLATION_CHECK_THEN_USE;
    return dh_sources_have(&b->by_control, source) && is_used(f, a, b) && comes_before(f, a->point, b->point);
}

/* The first section changes one of the two itself: it has made its claim. */
static bool has_claimed(struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b)
{
    const struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++) {
        const struct dh_dependent_access *s = &r->steps.at[n];
        if (s->traits & DH_STEP_WRITES && (s->point == a->point || common_holds(f, a->point, s->point)) &&
            (same_variable(f, s, a) || same_variable(f, s, b)))
            return true;
    }
    return false;
}

static bool judge_steps(struct finder *f, const struct dh_dependent_access *a, uint32_t source,
                        const struct dh_dependent_access *b, enum dh_violation_kind *kind)
{
    if (a->point == b->point || a->traits & DH_STEP_WRITES)
        return false;
    if (same_variable(f, a, b))
        return (b->traits & DH_STEP_WRITES ? judge_write : judge_read)(f, a, source, b, kind);
    *kind = DH_VIOLATION_CHECK_THEN_ACT;
    return a->traits & b->traits & DH_STEP_LOCKED && dh_sources_have(&b->by_control, source) && same_object(f, a, b) &&
           !(a->traits & DH_STEP_CLAIMED) && comes_before(f, a->point, b->point) && !is_reread(f, a, b) &&
           !has_claimed(f, a, b);
}

static void add_candidate(struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b,
                          enum dh_violation_kind kind)
{
    struct candidate c = {.kind = kind, .function = f->dependence.function, .first = *a, .second = *b};
    c.takes = f->held_locks.acquisitions.n;
    dh_lock_bits both = dh_held_locks_between(&f->held_locks, a->point, b->point);
    for (size_t n = 0; n < f->held_locks.acquisitions.n && c.n_locks < LOCKS_KEPT; n++)
        if (both >> f->held_locks.acquisitions.at[n].hold & 1)
            c.locks[c.n_locks++] = f->held_locks.acquisitions.at[n].inst;
    dh_vec_push(&f->candidates, c);
}

/* 003 §5.1, for one variable: two critical sections of a function and another thread's between them; or a read that a
 * write of the function depends on. */
static bool belongs_to_split(struct finder *f, const struct dh_dependent_access *a, const struct dh_dependent_access *b)
{
    uint32_t source = f->dependence.n_params + (uint32_t)(a - f->dependence.steps.at);
    bool both_write = a->traits & b->traits & DH_STEP_WRITES;
    if (!(a->traits & b->traits & DH_STEP_LOCKED) || a->point == b->point || both_write ||
        !comes_before(f, a->point, b->point))
        return false;
    bool dependence = dh_sources_have(&b->by_data, source) || dh_sources_have(&b->by_control, source);
    return same_variable(f, a, b) || (b->traits & DH_STEP_WRITES && dependence);
}

static void find_split_sections(struct finder *f)
{
    const struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++)
        for (size_t k = 0; k < r->steps.n; k++)
            if (n != k && belongs_to_split(f, &r->steps.at[n], &r->steps.at[k]))
                add_candidate(f, &r->steps.at[n], &r->steps.at[k], DH_VIOLATION_SPLIT);
}

/* ---- reads that are validated ---- */

static bool is_acquiring(const struct dh_inst *i)
{
    return i->order == DH_ORDER_ACQUIRE || i->order == DH_ORDER_ACQ_REL || i->order == DH_ORDER_SEQ_CST;
}

/* A fence, here or in the callee that validates, keeps the second read of the version after the read of the data. */
static bool is_fenced(const struct finder *f, const struct dh_dependent_access *read,
                      const struct dh_dependent_access *look)
{
    const struct dh_program *p = f->w->program;
    uint32_t in[2] = {f->dependence.function, f->function[look->inst]};
    for (int n = 0; n < 2; n++) {
        const struct dh_function *of = &p->functions.at[in[n]];
        for (uint32_t b = of->block; b < of->block + of->n_blocks; b++)
            for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++)
                if (p->insts.at[i].op == DH_I_FENCE && is_acquiring(&p->insts.at[i]) &&
                    (n || (comes_before(f, read->point, i) && comes_before(f, i, look->point))))
                    return true;
    }
    return false;
}

static bool is_loose(const struct finder *f, const struct dh_dependent_access *s)
{
    return !(s->traits & (DH_STEP_WRITES | DH_STEP_INDIVISIBLE)) && s->traits & DH_STEP_ATOMIC &&
           !is_acquiring(&f->w->program->insts.at[s->inst]);
}

/* A sequence lock whose second read of the version may be older than the data: all reads between the two. */
static void find_reads_between(struct finder *f, const struct dh_dependent_access *before,
                               const struct dh_dependent_access *look)
{
    const struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++)
        for (size_t k = 0; k < r->steps.n; k++) {
            const struct dh_dependent_access *a = &r->steps.at[n], *b = &r->steps.at[k];
            if (is_loose(f, a) && is_loose(f, b) && same_object(f, a, b) && same_object(f, b, look) &&
                same_object(f, a, look) && comes_before(f, before->point, a->point) &&
                comes_before(f, a->point, b->point) && comes_before(f, b->point, look->point) && !is_fenced(f, b, look))
                add_candidate(f, a, b, DH_VIOLATION_TORN_READ);
        }
}

static void find_torn_reads(struct finder *f)
{
    const struct dh_dependence *r = &f->dependence;
    for (size_t n = 0; n < r->steps.n; n++) {
        const struct dh_dependent_access *look = &r->steps.at[n];
        for (unsigned k = 0; k < look->by_equality.n; k++) {
            if (look->by_equality.at[k] < r->n_params)
                continue;
            const struct dh_dependent_access *before = &r->steps.at[look->by_equality.at[k] - r->n_params];
            if (before != look && comes_before(f, before->point, look->point) && same_variable(f, before, look))
                find_reads_between(f, before, look);
        }
    }
}

/* ---- accesses that follow each other ---- */

/* The first access of the variable among the instructions; DH_NONE: none. */
static uint32_t next_access_in(struct finder *f, const struct dh_dependent_access *a, uint32_t first, uint32_t end)
{
    const struct dh_dependence *r = &f->dependence;
    const struct dh_program *p = f->w->program;
    uint32_t base = p->blocks.at[p->functions.at[r->function].block].inst;
    for (uint32_t i = first; i < end; i++)
        for (uint32_t n = r->step_of.at[i - base]; n < r->steps.n && r->steps.at[n].point == i; n++)
            if (same_variable(f, a, &r->steps.at[n]))
                return n;
    return DH_NONE;
}

static void add_next(struct finder *f, const struct dh_dependent_access *a, uint32_t next)
{
    const struct dh_dependent_access *b = &f->dependence.steps.at[next];
    bool at_once = a->traits & b->traits & DH_STEP_INDIVISIBLE && a->inst == b->inst;
    if (!at_once && a->point != b->point)
        add_candidate(f, a, b, DH_VIOLATION_NEIGHBOURS);
}

/* 001 §2, after AVIO: two accesses of a variable with none of the same in between, on any way. */
static void find_neighbours(struct finder *f, const struct dh_dependent_access *a)
{
    enum { BLOCKS_MAX = 64 };
    const struct dh_program *p = f->w->program;
    const struct dh_cfg *flow = dh_symex_cfg(f->w, f->dependence.function);
    uint32_t work[BLOCKS_MAX], seen[BLOCKS_MAX], n_work = 0, n_seen = 0;
    const struct dh_basic_block *b = &p->blocks.at[dh_program_block_of(p, a->point)];
    uint32_t from = a->point + 1;
    for (;;) {
        uint32_t next = next_access_in(f, a, from, b->inst + b->n_insts);
        if (next != DH_NONE)
            add_next(f, a, next);
        for (uint32_t s = 0; next == DH_NONE && s < b->n_succs; s++) {
            uint32_t to = dh_successors(p, b)[s], k = 0;
            while (k < n_seen && seen[k] != to)
                k++;
            /* Not round a loop: what comes again is another iteration. */
            bool back = flow->rank.at[to - flow->first] <= flow->rank.at[(uint32_t)(b - p->blocks.at) - flow->first];
            if (k == n_seen && n_seen < BLOCKS_MAX && !back)
                work[n_work++] = seen[n_seen++] = to;
        }
        if (!n_work)
            return;
        b = &p->blocks.at[work[--n_work]];
        from = b->inst;
    }
}

static void judge_sources(struct finder *f, const struct dh_sources *by, const struct dh_dependent_access *b)
{
    struct dh_dependence *r = &f->dependence;
    enum dh_violation_kind kind;
    for (unsigned n = 0; n < by->n; n++) {
        if (by->at[n] < r->n_params)
            continue;
        const struct dh_dependent_access *a = &r->steps.at[by->at[n] - r->n_params];
        f->out->n_pairs++;
        if (judge_steps(f, a, by->at[n], b, &kind))
            add_candidate(f, a, b, kind);
    }
}

/* What a class of the C++ library does inside is for its callers to protect. */
static bool is_library(const struct finder *f, uint32_t function)
{
    const struct dh_program *p = f->w->program;
    const char *name = dh_program_string(p, p->functions.at[function].source);
    return strncmp(name, "std::", 5) == 0 || strncmp(name, "__gnu_cxx::", 11) == 0;
}

static void read_function(struct finder *f, uint32_t function)
{
    dh_dependence_analyse(&f->dependence, function);
    dh_held_locks_analyse(&f->held_locks, function);
    note_sections(f);
    note_views(f);
    note_once(f);
    f->out->n_steps += f->dependence.steps.n;
    f->out->n_functions += f->dependence.steps.n > 1;
    for (size_t n = 0; n < f->dependence.steps.n && !is_library(f, function); n++) {
        const struct dh_dependent_access *b = &f->dependence.steps.at[n];
        judge_sources(f, &b->by_data, b);
        judge_sources(f, &b->by_comparison, b);
        judge_sources(f, &b->by_control, b);
    }
    if (f->how->wide && !is_library(f, function))
        find_split_sections(f);
    if (!f->how->sequential)
        find_torn_reads(f);
    for (size_t n = 0; f->how->neighbours && n < f->dependence.steps.n && !is_library(f, function); n++)
        find_neighbours(f, &f->dependence.steps.at[n]);
    dh_dependence_keep_summary(&f->dependence);
}

/* ---- what can come between ---- */

/* A local variable of a function that others than main run: lent to a callee, it does not escape. */
static bool is_local(struct finder *f, const struct candidate *c, const struct dh_symex_event *e)
{
    const struct dh_value_numbering *x = &f->w->state->values;
    const struct dh_program *p = f->w->program;
    struct dh_expr root = x->exprs.at[dh_expr_root(x, c->first.at.expr)];
    if (f->w->threads.at[e->thread].kind == DH_ROOT_MAIN || root.kind != DH_EXPR_OBJECT || root.a != c->function)
        return false;
    uint32_t at = dh_symex_definitions(f->w, root.a)[root.b];
    return at != DH_NONE && p->insts.at[at].op == DH_I_SLOT;
}

static const struct dh_symex_lock *held_by(const struct dh_symex *w, const struct dh_symex_event *e, uint32_t node,
                                           int32_t offset)
{
    const struct dh_lockset *l = &w->locksets.at[e->lockset];
    for (uint32_t n = 0; n < l->n; n++)
        if (w->held.at[l->first + n].node == node && w->held.at[l->first + n].offset == offset)
            return &w->held.at[l->first + n];
    return NULL;
}

static bool is_element(const struct finder *f, const struct dh_symex_event *e)
{
    const struct dh_heap_node *n = &f->w->points_to->graph.nodes.at[e->node];
    for (unsigned k = 0; k < n->n_folds; k++)
        if (e->offset >= n->folds[k].start &&
            (!n->folds[k].length || e->offset < n->folds[k].start + n->folds[k].length))
            return true;
    return e->stride;
}

/* Holding this lock all the time keeps the write away. */
static bool keeps_away(const struct finder *f, const struct dh_symex_event *e, const struct dh_symex_event *write,
                       uint32_t node, int32_t offset)
{
    const struct dh_symex_lock *mine = held_by(f->w, e, node, offset), *theirs = held_by(f->w, write, node, offset);
    if (!theirs || theirs->mode)
        return false;
    if (dh_symex_is_unique(f->w, node) && !theirs->element)
        return true;
    if (mine && mine->relation != DH_RELATION_NONE && theirs->relation != DH_RELATION_NONE)
        return true;
    /* Heuristic: of many locks and many objects each object has its own. */
    return !dh_symex_is_unique(f->w, e->node) || is_element(f, e);
}

static bool kept_by_own_locks(const struct finder *f, const struct candidate *c, const struct dh_symex_event *e,
                              const struct dh_symex_event *write)
{
    for (uint32_t n = 0; n < c->n_locks; n++)
        for (uint32_t m = f->head[c->locks[n]]; m; m = f->next[m - 1]) {
            const struct dh_symex_event *lock = &f->w->events.at[m - 1];
            if (lock->kind == DH_SYMEX_LOCK && lock->thread == e->thread &&
                keeps_away(f, e, write, lock->node, lock->offset))
                return true;
        }
    return false;
}

/* What the function holds at both steps and takes nowhere itself, its callers hold. */
static bool kept_from_outside(const struct finder *f, const struct candidate *c, const struct dh_symex_event *a,
                              const struct dh_symex_event *b, const struct dh_symex_event *write)
{
    const struct dh_lockset *l = &f->w->locksets.at[a->lockset];
    if (c->takes || c->first.inst != c->first.point || c->second.inst != c->second.point)
        return false;
    for (uint32_t n = 0; n < l->n; n++) {
        const struct dh_symex_lock *h = &f->w->held.at[l->first + n];
        if (held_by(f->w, b, h->node, h->offset) && keeps_away(f, a, write, h->node, h->offset))
            return true;
    }
    return false;
}

/* Every call of the function by that thread is made with a lock held that keeps the write away. */
static bool kept_by_callers(const struct finder *f, const struct candidate *c, const struct dh_symex_event *e,
                            const struct dh_symex_event *write)
{
    for (uint32_t k = f->frame_head[c->function]; k; k = f->frame_next.at[k - 1]) {
        const struct dh_symex_activation *frame = f->w->state->activations.at[k - 1];
        bool kept = false;
        if (frame->thread != e->thread)
            continue;
        for (unsigned n = 0; n < frame->in.n_locks && !kept; n++)
            kept = keeps_away(f, e, write, frame->in.locks[n].node, frame->in.locks[n].offset);
        if (!kept)
            return false;
    }
    return true;
}

static const struct dh_inst *definition(const struct finder *f, uint32_t inst, dh_value v)
{
    const struct dh_program *p = f->w->program;
    uint32_t function = f->function[inst];
    for (int depth = 0; depth < 8 && dh_is_register(v); depth++) {
        uint32_t at = dh_symex_definitions(f->w, function)[v];
        if (at == DH_NONE)
            return NULL;
        if (p->insts.at[at].op != DH_I_COPY && p->insts.at[at].op != DH_I_OFFSET)
            return &p->insts.at[at];
        v = dh_operand(p, &p->insts.at[at], 0);
    }
    return NULL;
}

/* What is stored is not zero: a thread that tested for that may go on. */
static bool stores_something(const struct finder *f, const struct dh_symex_event *write)
{
    const struct dh_program *p = f->w->program;
    const struct dh_inst *i = &p->insts.at[write->inst];
    int64_t number;
    if (i->op != DH_I_STORE)
        return false;
    dh_value v = dh_operand(p, i, 1);
    if (dh_value_int(p, v, &number))
        return number != 0;
    if (!dh_is_register(v))
        return dh_program_constant(p, v)->kind == DH_CONST_GLOBAL ||
               dh_program_constant(p, v)->kind == DH_CONST_FUNCTION;
    const struct dh_inst *by = definition(f, write->inst, v);
    return by && (by->op == DH_I_ALLOC || by->op == DH_I_CALL || by->op == DH_I_SLOT);
}

/* Both store one number: the second store changes nothing. */
static bool same_number(const struct finder *f, const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    const struct dh_program *p = f->w->program;
    const struct dh_inst *x = &p->insts.at[a->inst], *y = &p->insts.at[b->inst];
    int64_t m, n;
    return x->op == DH_I_STORE && y->op == DH_I_STORE && dh_value_int(p, dh_operand(p, x, 1), &m) &&
           dh_value_int(p, dh_operand(p, y, 1), &n) && m == n;
}

static bool is_locked(const struct finder *f, const struct dh_symex_event *e)
{
    return f->w->locksets.at[e->lockset].n;
}

/* Initialises the object before the thread that gets it starts. */
static bool initialises(const struct finder *f, const struct dh_symex_event *e, const struct dh_symex_event *write)
{
    bool starts = f->w->threads.at[e->thread].creators >> write->thread & 1;
    return write->flags & DH_SYMEX_FRESH || (starts && write->flags & DH_SYMEX_NOT_PASSED);
}

static bool is_written_locked(const struct finder *f, const struct dh_symex_event *e)
{
    uint32_t first = first_of(f, &f->writes, e);
    for (uint32_t n = first; n < first + WRITERS_MAX && is_within(f, &f->writes, e, n); n++)
        if (overlaps(e, &f->w->events.at[f->writes.at[n]]) && is_locked(f, &f->w->events.at[f->writes.at[n]]))
            return true;
    return false;
}

/* Ownership transfer: a thread that removed an object from a shared place under a lock uses it without one; others
 * access it only while they hold the lock. A number is read again on purpose where all other accesses are locked. */
static bool is_transferred(const struct finder *f, const struct candidate *c, const struct dh_symex_event *a,
                           const struct dh_symex_event *b, const struct dh_symex_event *write)
{
    if (is_locked(f, a) || is_locked(f, b))
        return false;
    if (!dh_symex_is_unique(f->w, a->node))
        return is_locked(f, write) || is_written_locked(f, a);
    return is_locked(f, write) && c->kind == DH_VIOLATION_CHECK_THEN_USE && !is_pointer(f, b->inst);
}

/* Heuristic: the thread waited for its turn, and keeps it from one step to the other. */
static bool kept_by_wait_order(struct finder *f, const struct dh_symex_event *a, const struct dh_symex_event *b,
                               const struct dh_symex_event *write)
{
    return !is_locked(f, a) && !is_locked(f, write) && dh_wait_order_separates(&f->wait_order, a, write) &&
           dh_wait_order_keeps_turn(&f->wait_order, a, b);
}

static bool violates(struct finder *f, const struct candidate *c, const struct dh_symex_event *a,
                     const struct dh_symex_event *b, const struct dh_symex_event *write)
{
    bool one = a->node == b->node && overlaps(a, b);
    if (!interferes(f, a, write) || (one && !interferes(f, b, write)) || (f->once[write->inst] && is_locked(f, write)))
        return false;
    if (initialises(f, a, write) || dh_source_fields_differ(f->w, a->inst, write->inst) || is_local(f, c, a) ||
        is_transferred(f, c, a, b, write))
        return false;
    /* In one section, and the other has none: a race, and reported as that. */
    if (c->kind == DH_VIOLATION_LOST_UPDATE && c->n_locks && !is_locked(f, write))
        return false;
    if (c->kind == DH_VIOLATION_CHECK_THEN_USE && stores_something(f, write))
        return false;
    if (c->kind == DH_VIOLATION_CHECK_THEN_SET && same_number(f, b, write))
        return false;
    return !kept_by_own_locks(f, c, a, write) && !kept_from_outside(f, c, a, b, write) &&
           !kept_by_callers(f, c, a, write) && !kept_by_wait_order(f, a, b, write);
}

/* PAIR: an access of the writer's own critical section that is in conflict with the second step. */
static uint32_t conflicting_in_section(struct finder *f, const struct dh_symex_event *write,
                                       const struct dh_symex_event *b)
{
    for (uint32_t m = f->member_head[write->inst]; m; m = f->member_next.at[m - 1]) {
        uint32_t view = f->members.at[m - 1].view;
        for (size_t n = f->view_first.at[view]; n < f->members.n && f->members.at[n].view == view; n++)
            for (uint32_t e = f->head[f->members.at[n].inst]; e; e = f->next[e - 1]) {
                const struct dh_symex_event *o = &f->w->events.at[e - 1];
                bool conflict = o->kind == DH_SYMEX_WRITE || (o->kind == DH_SYMEX_READ && b->kind == DH_SYMEX_WRITE);
                if (conflict && o->thread == write->thread && is_judged(o) && interferes(f, b, o))
                    return e - 1;
            }
    }
    return DH_NONE;
}

/* TORN: what the same thread writes to the second variable. */
static uint32_t writers_second(struct finder *f, const struct dh_symex_event *write, const struct dh_symex_event *b)
{
    uint32_t from = first_of(f, &f->writes, b);
    for (uint32_t n = from; n < from + WRITERS_MAX && is_within(f, &f->writes, b, n); n++) {
        const struct dh_symex_event *o = &f->w->events.at[f->writes.at[n]];
        if (o->thread == write->thread && f->function[o->inst] == f->function[write->inst] && interferes(f, b, o))
            return f->writes.at[n];
    }
    return DH_NONE;
}

static bool shares_section(const struct finder *f, const struct dh_symex_event *a, const struct dh_symex_event *b,
                           const struct dh_symex_event *write)
{
    const struct dh_lockset *l = &f->w->locksets.at[a->lockset];
    for (uint32_t n = 0; n < l->n; n++) {
        const struct dh_symex_lock *h = &f->w->held.at[l->first + n];
        if (held_by(f->w, b, h->node, h->offset) && held_by(f->w, write, h->node, h->offset))
            return true;
    }
    return false;
}

static void add_violation(struct finder *f, const struct candidate *c, struct dh_violation v)
{
    const struct dh_symex_event *e = f->w->events.at;
    v.kind = c->kind;
    v.function = c->function;
    v.locked = is_locked(f, &e[v.first]) && is_locked(f, &e[v.second]) && is_locked(f, &e[v.between]);
    if (c->kind == DH_VIOLATION_NEIGHBOURS)
        dh_vec_push(&f->out->neighbours, v);
    else
        dh_vec_push(&f->out->found, v);
}

static bool judge_events(struct finder *f, const struct candidate *c, uint32_t a, uint32_t b)
{
    const struct dh_symex_event *ea = &f->w->events.at[a], *eb = &f->w->events.at[b];
    /* Between two writes it is a read that sees an intermediate value. */
    bool writes = ea->kind == DH_SYMEX_WRITE && eb->kind == DH_SYMEX_WRITE;
    const struct event_index *all = writes ? &f->reads : &f->writes;
    uint32_t from = first_of(f, all, ea);
    for (uint32_t n = from; n < from + WRITERS_MAX && is_within(f, all, ea, n); n++) {
        const struct dh_symex_event *other = &f->w->events.at[all->at[n]];
        uint32_t also = DH_NONE;
        if (c->kind == DH_VIOLATION_CHECK_THEN_ACT && !shares_section(f, ea, eb, other))
            continue;
        if (!violates(f, c, ea, eb, other))
            continue;
        if (c->kind == DH_VIOLATION_CHECK_THEN_ACT && (also = conflicting_in_section(f, other, eb)) == DH_NONE)
            continue;
        if (c->kind == DH_VIOLATION_TORN_READ && (also = writers_second(f, other, eb)) == DH_NONE)
            continue;
        add_violation(f, c, (struct dh_violation){.first = a, .between = all->at[n], .second = b, .also = also});
        return true;
    }
    return false;
}

static bool judge_candidate(struct finder *f, const struct candidate *c)
{
    unsigned tries = 0;
    enum dh_symex_event_kind mine = c->first.traits & DH_STEP_WRITES ? DH_SYMEX_WRITE : DH_SYMEX_READ;
    enum dh_symex_event_kind kind = c->second.traits & DH_STEP_WRITES ? DH_SYMEX_WRITE : DH_SYMEX_READ;
    for (uint32_t m = f->head[c->first.inst]; m; m = f->next[m - 1])
        for (uint32_t n = f->head[c->second.inst]; n && tries < TRIES_MAX; n = f->next[n - 1], tries++) {
            const struct dh_symex_event *a = &f->w->events.at[m - 1], *b = &f->w->events.at[n - 1];
            bool two = c->kind == DH_VIOLATION_CHECK_THEN_ACT || c->kind == DH_VIOLATION_TORN_READ ||
                       c->kind == DH_VIOLATION_SPLIT;
            bool one = (c->kind == DH_VIOLATION_SPLIT || a->node == b->node) && (two || a->offset == b->offset);
            bool read = c->kind >= DH_VIOLATION_SPLIT || a->kind == DH_SYMEX_READ ||
                        f->w->program->insts.at[a->inst].op == DH_I_RMW ||
                        f->w->program->insts.at[a->inst].op == DH_I_CAS;
            if (one && read && (c->kind != DH_VIOLATION_NEIGHBOURS || a->kind == mine) && b->kind == kind &&
                a->thread == b->thread && is_judged(a) && is_judged(b) && judge_events(f, c, m - 1, n - 1))
                return true;
        }
    return false;
}

/* ---- all ---- */

static void index_frames(struct finder *f)
{
    const struct dh_symex_state *s = f->w->state;
    f->frame_head = dh_xcalloc(f->w->program->functions.n, sizeof *f->frame_head);
    for (uint32_t n = 0; n < s->activations.n; n++) {
        dh_vec_push(&f->frame_next, f->frame_head[s->activations.at[n]->function]);
        f->frame_head[s->activations.at[n]->function] = n + 1;
    }
}

static void index_members(struct finder *f)
{
    f->member_head = dh_xcalloc(f->w->program->insts.n, sizeof *f->member_head);
    for (uint32_t n = 0; n < f->members.n; n++) {
        dh_vec_push(&f->member_next, f->member_head[f->members.at[n].inst]);
        f->member_head[f->members.at[n].inst] = n + 1;
    }
}

/* Callees were judged first, so that the innermost function with a pair of accesses is the one reported; and of what a
 * function does with one read the worst. */
static bool is_reported(const struct finder *f, const struct candidate *c)
{
    const struct dh_symex_event *e = f->w->events.at;
    for (size_t n = 0; n < f->out->found.n; n++) {
        const struct dh_violation *v = &f->out->found.at[n];
        bool alike = (v->kind >= DH_VIOLATION_CHECK_THEN_ACT) == (c->kind >= DH_VIOLATION_CHECK_THEN_ACT) &&
                     v->function == c->function;
        if (e[v->first].inst == c->first.inst && (e[v->second].inst == c->second.inst || alike))
            return true;
    }
    return false;
}

static void judge_candidates(struct finder *f)
{
    for (int kind = 0; kind <= DH_VIOLATION_NEIGHBOURS; kind++)
        for (size_t n = 0; n < f->candidates.n && !dh_time_limit_over(f->w->limit); n++)
            if ((int)f->candidates.at[n].kind == kind &&
                (kind == DH_VIOLATION_NEIGHBOURS || !is_reported(f, &f->candidates.at[n])))
                judge_candidate(f, &f->candidates.at[n]);
}

static void release(struct finder *f)
{
    void *all[] = {f->hot,  f->only_cell, f->once,     f->function,   f->head,
                   f->next, f->writes.at, f->reads.at, f->frame_head, f->member_head};
    for (size_t n = 0; n < sizeof all / sizeof *all; n++)
        free(all[n]);
    dh_vec_release(&f->frame_next);
    dh_vec_release(&f->candidates);
    dh_vec_release(&f->members);
    dh_vec_release(&f->member_next);
    dh_vec_release(&f->view_first);
    dh_dependence_release(&f->dependence);
    dh_held_locks_release(&f->held_locks);
    dh_wait_order_release(&f->wait_order);
    dh_publication_release(&f->publication);
}

void dh_inconsistencies_find(struct dh_inconsistencies *c, struct dh_symex *w, const struct dh_consistency_options *how)
{
    struct finder f = {.out = c, .w = w, .how = how};
    *c = (struct dh_inconsistencies){0};
    index_functions(&f);
    index_events(&f);
    index_frames(&f);
    dh_coexistence_find(&f.coexistence, w);
    dh_wait_order_init(&f.wait_order, w);
    f.once = dh_xcalloc(w->program->insts.n, 1);
    dh_publication_init(&f.publication, w);
    find_interfering(&f);
    index_places(&f);
    dh_dependence_init(&f.dependence, w, f.hot);
    dh_held_locks_init(&f.held_locks, w);
    for (size_t n = 0; n < w->program->functions.n; n++) {
        uint32_t function = w->points_to->calls.order[n];
        bool body = w->program->functions.at[function].n_blocks, left = body && dh_time_limit_over(w->limit);
        c->n_bodies += body;
        c->n_bodies_left += left;
        if (body && !left)
            read_function(&f, function);
    }
    index_members(&f);
    judge_candidates(&f);
    c->n_views = f.view_first.n;
    c->incomplete = f.dependence.incomplete || f.held_locks.incomplete;
    release(&f);
}

void dh_inconsistencies_release(struct dh_inconsistencies *c)
{
    dh_vec_release(&c->found);
    dh_vec_release(&c->neighbours);
}
