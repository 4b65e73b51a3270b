#include "analysis/self_deadlock.h"

struct search {
    const struct dh_symex *w;
    struct dh_deadlocks *out;
    bool recursive; /* some lock of the program is made to be taken again */
};

static bool same_place(const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return a->node == b->node && a->offset == b->offset;
}

/* Certainly one lock at run time, wherever the two stand. */
static bool is_one(const struct search *s, const struct dh_symex_lock *a, const struct dh_symex_lock *b)
{
    return same_place(a, b) && dh_symex_is_unique(s->w, a->node) && !a->element && !b->element;
}

static bool is_known(const struct search *s, enum dh_deadlock_kind kind, uint32_t inst)
{
    for (size_t i = 0; i < s->out->all.n; i++)
        if (s->out->all.at[i].kind == kind && s->w->events.at[s->out->all.at[i].events[0]].inst == inst)
            return true;
    return false;
}

/* A lock of a library. One-time initialisation counts as held for reading when it is over, and what programs make of
 * atomics may be anything. */
static bool is_lock(const struct search *s, uint32_t inst)
{
    enum dh_inst_op op = s->w->program->insts.at[inst].op;
    return op == DH_I_LOCK || op == DH_I_RDLOCK || op == DH_I_TRYLOCK || op == DH_I_TRYRDLOCK;
}

static bool is_request(const struct search *s, const struct dh_symex_event *e)
{
    return e->kind == DH_SYMEX_LOCK && e->second != DH_NONE && !(e->flags & (DH_SYMEX_TRY | DH_SYMEX_IGNORED)) &&
           is_lock(s, e->inst);
}

/* ---- taken again ---- */

/* A mutex may be recursive by what it was made with. */
static bool has_recursive(const struct dh_program *p)
{
    for (size_t n = 0; n < p->insts.n; n++) {
        const struct dh_inst *i = &p->insts.at[n];
        int64_t like;
        if (i->op == DH_I_LOCK_INIT && (i->n_operands < 2 || !dh_value_int(p, dh_operand(p, i, 1), &like) || like != 0))
            return true;
    }
    return false;
}

/* Not a mutex that somebody made otherwise: zeros are an ordinary one. */
static bool is_ordinary(const struct search *s, const struct dh_symex_lock *lock)
{
    const struct dh_heap_graph *g = &s->w->points_to->graph;
    uint32_t first = g->nodes.at[lock->node].origin, at = first;
    if (s->recursive || first == DH_NO_NODE)
        return false;
    do {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind != DH_ORIGIN_GLOBAL || !(s->w->program->globals.at[o->index].flags & DH_GLOBAL_ZERO))
            return false;
        at = o->next;
    } while (at != first);
    return true;
}

/* Readers may come again; who reads and wants to write waits for itself, whatever the lock is like. */
static bool excludes_itself(const struct search *s, const struct dh_symex_lock *has, const struct dh_symex_lock *wants)
{
    if (wants->mode)
        return false;
    return has->mode || is_ordinary(s, has);
}

static void look_at_request(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    const struct dh_symex_lock *wants = &s->w->held.at[e->second];
    for (uint32_t k = l->first; k < l->first + l->n; k++) {
        const struct dh_symex_lock *has = &s->w->held.at[k];
        if (!is_one(s, has, wants) || !is_lock(s, has->inst) || !excludes_itself(s, has, wants) ||
            is_known(s, DH_DEADLOCK_SELF, e->inst))
            continue;
        struct dh_deadlock d = {.kind = DH_DEADLOCK_SELF, .n = 1, .events = {event}, .held = k};
        dh_vec_push(&s->out->all, d);
    }
}

/* ---- joins ---- */

static uint32_t function_of(const struct search *s, const struct dh_symex_event *e)
{
    return s->w->contexts.at[e->context].function;
}

/* Who has waited under the lock for the others to be done knows that they take it no more. */
static bool has_waited(const struct search *s, const struct dh_symex_event *join, const struct dh_symex_lock *lock)
{
    for (size_t n = 0; n < s->w->events.n; n++) {
        const struct dh_symex_event *e = &s->w->events.at[n];
        if (e->kind == DH_SYMEX_WAIT && e->thread == join->thread && function_of(s, e) == function_of(s, join) &&
            e->second != DH_NONE && same_place(&s->w->held.at[e->second], lock))
            return true;
    }
    return false;
}

static uint32_t who_needs(const struct search *s, const struct dh_symex_event *join, const struct dh_symex_lock *has)
{
    for (uint32_t n = 0; n < s->w->events.n; n++) {
        const struct dh_symex_event *e = &s->w->events.at[n];
        if (!is_request(s, e) || e->thread == join->thread || !(join->element_joined >> e->thread & 1))
            continue;
        const struct dh_symex_lock *wants = &s->w->held.at[e->second];
        if (is_one(s, has, wants) && !(has->mode && wants->mode))
            return n;
    }
    return DH_NONE;
}

static void look_at_join(struct search *s, uint32_t event)
{
    const struct dh_symex_event *e = &s->w->events.at[event];
    const struct dh_lockset *l = &s->w->locksets.at[e->lockset];
    for (uint32_t k = l->first; k < l->first + l->n && !is_known(s, DH_DEADLOCK_JOIN, e->inst); k++) {
        const struct dh_symex_lock *has = &s->w->held.at[k];
        uint32_t other = is_lock(s, has->inst) ? who_needs(s, e, has) : DH_NONE;
        if (other == DH_NONE || has_waited(s, e, has))
            continue;
        struct dh_deadlock d = {.kind = DH_DEADLOCK_JOIN, .n = 2, .events = {event, other}, .held = k};
        dh_vec_push(&s->out->all, d);
    }
}

void dh_self_deadlocks_find(struct dh_deadlocks *d, const struct dh_symex *w)
{
    struct search s = {.w = w, .out = d, .recursive = has_recursive(w->program)};
    for (uint32_t n = 0; n < w->events.n; n++) {
        const struct dh_symex_event *e = &w->events.at[n];
        if (is_request(&s, e) && w->locksets.at[e->lockset].n)
            look_at_request(&s, n);
        else if (e->kind == DH_SYMEX_JOIN && !(e->flags & DH_SYMEX_IGNORED))
            look_at_join(&s, n);
    }
}
