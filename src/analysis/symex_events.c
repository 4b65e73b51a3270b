/* Events of symbolic execution: accesses and synchronisation with lock sets, deduplicated. */
#include "analysis/symex_internal.h"

/* ---- lock sets ---- */

static uint64_t hash_held(const struct dh_symex_lock *held, unsigned n)
{
    uint64_t h = n;
    for (unsigned k = 0; k < n; k++) {
        h = dh_hash_combine(h, (uint64_t)held[k].node << 32 | (uint32_t)held[k].offset);
        h = dh_hash_combine(h, (uint64_t)held[k].expr << 32 | (uint32_t)held[k].relation << 16 | held[k].mode);
        h = dh_hash_combine(h, (uint64_t)held[k].sync_kind << 56 ^ (uint64_t)held[k].test << 40 ^
                                   (uint64_t)held[k].number);
    }
    return h;
}

/* For accesses it does not matter where locks were acquired; their expressions are dropped. */
static bool same_held(const struct dh_symex_lock *a, const struct dh_symex_lock *b, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        if (a[k].node != b[k].node || a[k].offset != b[k].offset || a[k].expr != b[k].expr || a[k].mode != b[k].mode ||
            a[k].relation != b[k].relation || !dh_symex_lock_same_kind(&a[k], &b[k]) ||
            (a[k].expr && a[k].inst != b[k].inst))
            return false;
    return true;
}

uint32_t dh_symex_intern_lockset(struct dh_symex *w, const struct dh_symex_lock *held, unsigned n)
{
    struct dh_index *index = &w->state->lockset_index;
    uint64_t hash = hash_held(held, n);
    struct dh_probe probe = dh_index_probe(index, hash);
    for (uint32_t k; (k = dh_index_next(index, &probe)) != DH_ABSENT;) {
        const struct dh_lockset *l = &w->locksets.at[k];
        if (l->n == n && (!n || same_held(w->held.at + l->first, held, n)))
            return k;
    }
    struct dh_lockset l = {(uint32_t)w->held.n, n};
    for (unsigned k = 0; k < n; k++)
        dh_vec_push(&w->held, held[k]);
    dh_index_add(index, hash, (uint32_t)w->locksets.n);
    dh_vec_push(&w->locksets, l);
    return (uint32_t)w->locksets.n - 1;
}

/* ---- order states ---- */

static uint32_t intern_order(struct dh_symex *w, const struct dh_state *s)
{
    struct dh_order_state o = {s->started, s->joined, s->joined_heuristic, s->phase};
    for (size_t n = w->orders.n; n-- > 0 && w->orders.n - n < 64;)
        if (w->orders.at[n].started == o.started && w->orders.at[n].joined == o.joined &&
            w->orders.at[n].joined_heuristic == o.joined_heuristic && w->orders.at[n].phase == o.phase)
            return (uint32_t)n;
    dh_vec_push(&w->orders, o);
    return (uint32_t)w->orders.n - 1;
}

/* ---- events, each once ---- */

static uint64_t hash_event(const struct dh_symex_event *e)
{
    uint64_t h = dh_hash_combine(e->inst, (uint64_t)e->thread << 16 | e->kind);
    h = dh_hash_combine(h, (uint64_t)e->node << 32 | (uint32_t)e->offset);
    h = dh_hash_combine(h, (uint64_t)e->lockset << 32 | e->order);
    return dh_hash_combine(h, (uint64_t)e->flags << 32 | e->second);
}

static bool same_event(const struct dh_symex_event *a, const struct dh_symex_event *b)
{
    return a->inst == b->inst && a->thread == b->thread && a->kind == b->kind && a->node == b->node &&
           a->offset == b->offset && a->lockset == b->lockset && a->order == b->order && a->flags == b->flags &&
           a->second == b->second && a->size == b->size && a->stride == b->stride &&
           a->index_extent == b->index_extent && a->loop == b->loop && a->only_instance == b->only_instance &&
           a->element_joined == b->element_joined && a->flags_seen == b->flags_seen;
}

static void note_context(struct dh_symex *w, uint32_t event, uint32_t context)
{
    if (w->keep_contexts)
        dh_vec_push(&w->event_contexts, (struct dh_event_context){event, context});
}

static void add_event(struct dh_symex *w, const struct dh_symex_event *e)
{
    struct dh_index *index = &w->state->event_index;
    uint64_t hash = hash_event(e);
    struct dh_probe probe = dh_index_probe(index, hash);
    for (uint32_t n; (n = dh_index_next(index, &probe)) != DH_ABSENT;)
        if (same_event(&w->events.at[n], e)) {
            note_context(w, n, e->context);
            return;
        }
    dh_index_add(index, hash, (uint32_t)w->events.n);
    dh_vec_push(&w->events, *e);
    note_context(w, (uint32_t)w->events.n - 1, e->context);
}

/* ---- cells of expressions ---- */

static struct dh_heap_cell expr_cell(struct dh_symex *w, uint32_t function, uint32_t expr, int depth)
{
    struct dh_value_numbering *x = &w->state->values;
    const struct dh_expr *e = &x->exprs.at[expr];
    if (depth > 12)
        return DH_NO_CELL;
    switch (e->kind) {
    case DH_EXPR_PARAM:
        return dh_points_to_value(w->points_to, function, e->a);
    case DH_EXPR_REGISTER:
    case DH_EXPR_OBJECT:
        return e->a == function ? dh_points_to_value(w->points_to, function, e->b) : DH_NO_CELL;
    case DH_EXPR_GLOBAL:
        return dh_heap_graph_find(&w->points_to->graph, w->points_to->globals[e->a]);
    case DH_EXPR_LOAD: {
        int64_t offset = e->offset;
        return dh_heap_graph_find_pointee(&w->points_to->graph,
                                          dh_heap_cell_at(expr_cell(w, function, e->a, depth + 1), offset));
    }
    case DH_EXPR_INDEX: {
        int64_t offset = e->offset;
        return dh_heap_cell_at(expr_cell(w, function, e->a, depth + 1), offset);
    }
    default:
        return DH_NO_CELL;
    }
}

static bool is_unstable(const struct dh_symex *w, struct dh_heap_cell at)
{
    size_t low = 0, high = w->state->unstable.n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const struct dh_heap_cell *c = &w->state->unstable.at[mid];
        if (c->node < at.node || (c->node == at.node && c->offset < at.offset))
            low = mid + 1;
        else
            high = mid;
    }
    return low < w->state->unstable.n && w->state->unstable.at[low].node == at.node &&
           w->state->unstable.at[low].offset == at.offset;
}

/* Two evaluations give one value: no field that is read is stored to while it is shared. */
static bool is_stable(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t expr, int depth)
{
    struct dh_value_numbering *x = &w->state->values;
    struct dh_expr e = x->exprs.at[expr];
    if (depth > 12)
        return false;
    if (e.kind == DH_EXPR_INDEX || e.kind == DH_EXPR_BINARY)
        return is_stable(w, f, e.a, depth + 1) && is_stable(w, f, e.b, depth + 1);
    if (e.kind != DH_EXPR_LOAD)
        return true;
    struct dh_heap_cell at = dh_heap_cell_at(expr_cell(w, f->function, e.a, 0), e.offset);
    at = dh_symex_bound_cell(w, f, at);
    if (at.node == DH_NO_NODE || is_unstable(w, dh_points_to_fold_cell(w->points_to, at)))
        return false;
    return is_stable(w, f, e.a, depth + 1);
}

bool dh_symex_is_stable(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t expr)
{
    return w->state->second_pass && is_stable(w, f, expr, 0);
}

static bool equal_values(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t a, uint32_t b)
{
    struct dh_value_numbering *x = &w->state->values;
    if (!a || !b)
        return false;
    if (a == b)
        return true;
    uint32_t canon = dh_expr_canonical(x, a);
    return canon == dh_expr_canonical(x, b) && is_stable(w, f, canon, 0);
}

/* ---- relations between locks, threads and objects ---- */

/* One step from a pointer to its owner: the struct around an array, the object that is the only one to point to it. */
static uint32_t owner_of(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t expr, bool *via)
{
    struct dh_expr e = w->state->values.exprs.at[expr];
    if (e.kind == DH_EXPR_INDEX)
        return e.a;
    if (e.kind != DH_EXPR_LOAD)
        return 0;
    struct dh_heap_cell c = dh_heap_graph_find(&w->points_to->graph, expr_cell(w, f->function, expr, 0));
    struct dh_symex_binding b = dh_symex_binding_of(w, f, c);
    *via = true;
    bool kept = b.node != DH_NO_NODE && b.node == w->threads.at[f->thread].owner;
    return b.node != DH_NO_NODE && (!w->multiply_referenced[b.node] || kept) ? e.a : 0;
}

/* Whether an index may leave the object that its address points to: an element of something larger, unless it is an
 * array with bounds, or the address is that of a whole object. */
static bool may_leave(struct dh_symex *w, const struct dh_symex_activation *f, const struct dh_state *s, uint32_t expr)
{
    struct dh_value_numbering *x = &w->state->values;
    struct dh_expr e = x->exprs.at[expr];
    bool via = false;
    if (e.kind != DH_EXPR_INDEX || e.c & DH_EXPR_BOUNDED)
        return false;
    struct dh_expr base = x->exprs.at[e.a];
    if (base.kind == DH_EXPR_OBJECT || base.kind == DH_EXPR_GLOBAL || (s && dh_state_is_fresh(s, e.a)))
        return false;
    if (base.kind == DH_EXPR_PARAM && base.a < DH_ATTRIBUTES_MAX && f->attributes[base.a] & DH_ARG_OWN_VIA)
        return false;
    return base.kind != DH_EXPR_LOAD || !owner_of(w, f, e.a, &via);
}

static enum dh_lock_relation relation_of(struct dh_symex *w, const struct dh_symex_activation *f,
                                         const struct dh_symex_lock *h, struct dh_term t)
{
    struct dh_value_numbering *x = &w->state->values;
    bool via = false, near = false;
    if (!t.expr || !w->state->second_pass)
        return DH_RELATION_NONE;
    if (h->index && x->exprs.at[t.expr].kind == DH_EXPR_INDEX && equal_values(w, f, h->index, x->exprs.at[t.expr].b) &&
        !equal_values(w, f, h->expr, t.expr))
        return DH_RELATION_INDEX;
    for (uint32_t at = t.expr; at; at = owner_of(w, f, at, &via)) {
        if (equal_values(w, f, h->expr, at))
            return near ? DH_RELATION_NEAR : via ? DH_RELATION_OWNER : DH_RELATION_SAME;
        near |= may_leave(w, f, NULL, at);
    }
    return DH_RELATION_NONE;
}

/* Allocated by this activation, or by a callee that returns it. */
static bool is_made_here(struct dh_symex *w, const struct dh_symex_activation *f, uint32_t expr)
{
    struct dh_expr e = w->state->values.exprs.at[expr];
    if (e.kind == DH_EXPR_OBJECT)
        return e.a == f->function;
    if (e.kind != DH_EXPR_REGISTER || e.a != f->function)
        return false;
    uint32_t inst = dh_symex_definitions(w, f->function)[e.b];
    return inst != DH_NONE && w->program->insts.at[inst].op == DH_I_CALL && dh_symex_returns_fresh(w, inst);
}

uint8_t dh_symex_attributes(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                            struct dh_term t)
{
    struct dh_value_numbering *x = &w->state->values;
    bool via = false, near = false;
    for (uint32_t at = t.expr; at; at = owner_of(w, f, at, &via)) {
        struct dh_expr e = x->exprs.at[at];
        if (!via && !near && dh_state_is_fresh(s, at))
            return DH_ARG_FRESH | DH_ARG_ALLOCATED_HERE;
        if (!via && !near && is_made_here(w, f, at))
            return DH_ARG_ALLOCATED_HERE;
        if (e.kind == DH_EXPR_PARAM) {
            uint8_t a = e.a < DH_ATTRIBUTES_MAX ? f->attributes[e.a] : 0;
            bool own = a & (DH_ARG_OWN | DH_ARG_OWN_VIA);
            if (near)
                return own || a & DH_ARG_OWN_NEAR ? DH_ARG_OWN_NEAR : 0;
            return via ? (own ? DH_ARG_OWN_VIA : 0) : (uint8_t)(a & ~DH_ARG_FRESH);
        }
        near |= may_leave(w, f, s, at);
    }
    return 0;
}

static bool own_index(struct dh_symex *w, const struct dh_symex_activation *f, struct dh_term t)
{
    struct dh_value_numbering *x = &w->state->values;
    if (!t.expr || x->exprs.at[t.expr].kind != DH_EXPR_INDEX)
        return false;
    struct dh_expr i = x->exprs.at[x->exprs.at[t.expr].b];
    return i.kind == DH_EXPR_PARAM && i.a < DH_ATTRIBUTES_MAX && f->attributes[i.a] & DH_ARG_OWN;
}

/* ---- recording ---- */

static uint32_t event_flags(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                            const struct dh_inst *i, struct dh_term t)
{
    uint8_t a = dh_symex_attributes(w, f, s, t);
    uint32_t flags = i->order ? DH_SYMEX_ATOMIC : 0;
    flags |= a & DH_ARG_FRESH ? DH_SYMEX_FRESH : 0;
    flags |= a & DH_ARG_ALLOCATED_HERE ? DH_SYMEX_ALLOCATED_HERE : 0;
    flags |= a & DH_ARG_OWN && t.exact ? DH_SYMEX_OWN : 0;
    flags |= a & DH_ARG_OWN_VIA ? DH_SYMEX_OWN_REACHED : 0;
    flags |= a & (DH_ARG_OWN | DH_ARG_OWN_NEAR) && !(flags & DH_SYMEX_OWN) ? DH_SYMEX_OWN_NEAR : 0;
    flags |= own_index(w, f, t) ? DH_SYMEX_OWN_INDEX : 0;
    flags |= !t.expr || !t.exact ? DH_SYMEX_UNKNOWN_INDEX : 0;
    flags |= i->flags & DH_INST_LIBRARY ? DH_SYMEX_LIBRARY : 0;
    flags |= s->ignoring ? DH_SYMEX_IGNORED : 0;
    return flags;
}

/* Locks, or flags that were seen. */
static uint32_t related_locks(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                              struct dh_term t, dh_value v, bool flags)
{
    struct dh_symex_lock held[DH_LOCKS_MAX];
    unsigned k = 0;
    for (unsigned n = 0; n < s->n_locks; n++) {
        if (dh_symex_lock_is_flag(&s->locks[n]) != flags || s->locks[n].pending)
            continue;
        held[k] = s->locks[n];
        held[k].relation = (uint16_t)relation_of(w, f, &s->locks[n], t);
        if (held[k].relation == DH_RELATION_NONE && w->state->second_pass &&
            dh_symex_found_through_lock(w, f, v, &s->locks[n]))
            held[k].relation = DH_RELATION_REACHED;
        held[k].expr = held[k].index = held[k].reached_params = 0;
        k++;
    }
    return dh_symex_intern_lockset(w, held, k);
}

static void note_unstable(struct dh_symex *w, const struct dh_symex_activation *f, const struct dh_state *s,
                          const struct dh_symex_event *e)
{
    bool alone = w->threads.at[f->thread].unique && !s->started;
    if (!w->state->second_pass && e->kind == DH_SYMEX_WRITE && !(e->flags & DH_SYMEX_FRESH) && !alone)
        dh_vec_push(&w->state->unstable, ((struct dh_heap_cell){e->node, e->offset}));
}

/* Bytes touched, 0 = not known. */
static uint32_t access_size(const struct dh_program *p, const struct dh_inst *i)
{
    int64_t length;
    if (i->op == DH_I_CREATE)
        return 8;
    if (dh_inst_class(i) == DH_CLASS_SYNC)
        return 1; /* a lock is its first byte */
    if ((i->op == DH_I_MEMCPY || i->op == DH_I_MEMSET) && dh_value_int(p, dh_operand(p, i, 2), &length) && length > 0 &&
        length < INT32_MAX)
        return (uint32_t)length;
    return i->size;
}

/* An element of a loop's iteration that was not yet passed to a thread, or whose thread has ended. */
static void note_element(struct dh_symex_step *t, struct dh_term a, struct dh_symex_event *e)
{
    const struct dh_value_numbering *x = &t->w->state->values;
    uint16_t loop;
    uint32_t element = dh_symex_loop_element(t, a, false, &loop);
    if (element && !dh_state_is_passed(t->s, element) && loop) {
        e->flags |= DH_SYMEX_NOT_PASSED;
        e->loop = loop;
    }
    for (uint32_t at = a.exact ? a.expr : 0; at;) {
        e->element_joined |= dh_state_element_joined(t->s, at);
        e->flags |= e->element_joined ? DH_SYMEX_ELEMENT_JOINED : 0;
        bool inside = x->exprs.at[at].kind == DH_EXPR_INDEX && x->exprs.at[at].c & DH_EXPR_BOUNDED;
        at = inside ? x->exprs.at[at].a : 0;
    }
}

/* The element's index is computed from the thread's argument, or the array was found by such an index. */
static uint32_t own_range(struct dh_symex_step *t, dh_value v)
{
    const struct dh_program *p = t->w->program;
    const uint32_t *defined = dh_symex_definitions(t->w, t->f->function);
    uint32_t own = 0;
    for (int depth = 0; depth < 8 && dh_is_register(v); depth++) {
        const struct dh_inst *i = defined[v] == DH_NONE ? NULL : &p->insts.at[defined[v]];
        if ((!i || i->op == DH_I_LOAD) && dh_symex_loaded_by_thread_index(t->w, t->f, v))
            return own | DH_SYMEX_OWN_FOUND;
        if (i && i->op == DH_I_CALL && dh_symex_is_thread_element(t->w, t->f, v))
            return own | DH_SYMEX_OWN_RANGE;
        if (!i)
            break;
        if (i->op == DH_I_INDEX && i->n_operands > 1 && dh_symex_is_thread_index(t->w, t->f, dh_operand(p, i, 1)))
            own |= DH_SYMEX_OWN_RANGE;
        v = dh_symex_address_source(t->w, t->f->function, i);
    }
    return own;
}

/* How many bytes an index may reach from the offset on: folded elements share one offset, arrays have an end. */
static uint32_t reach_of(struct dh_symex_step *t, dh_value v, const struct dh_symex_event *e)
{
    const struct dh_program *p = t->w->program;
    const struct dh_heap_node *n = &t->w->points_to->graph.nodes.at[e->node];
    const uint32_t *defined = dh_symex_definitions(t->w, t->f->function);
    if (!e->stride)
        return e->size;
    for (unsigned k = 0; k < n->n_folds; k++) {
        const struct dh_array_fold *f = &n->folds[k];
        if (f->stride == (int32_t)e->stride && f->stride > 8 && e->offset >= f->start &&
            (!f->length || e->offset < f->start + f->length))
            return e->size;
    }
    for (int depth = 0; depth < 8 && dh_is_register(v) && defined[v] != DH_NONE; depth++) {
        const struct dh_inst *i = &p->insts.at[defined[v]];
        bool counted = i->op == DH_I_INDEX && i->flags & DH_INST_BOUNDED && i->size == e->stride;
        if (counted && i->extra && (uint64_t)i->extra * i->size < INT32_MAX)
            return i->extra * i->size;
        if (i->op != DH_I_OFFSET && i->op != DH_I_COPY)
            break;
        v = dh_operand(p, i, 0);
    }
    return UINT32_MAX;
}

void dh_symex_access(struct dh_symex_step *t, uint32_t operand, enum dh_symex_event_kind kind, uint32_t flags)
{
    struct dh_symex *w = t->w;
    dh_value v = dh_operand(w->program, t->i, operand);
    struct dh_heap_cell at = dh_symex_bound_cell(w, t->f, dh_points_to_value(w->points_to, t->f->function, v));
    if (at.node == DH_NO_NODE || !(w->points_to->graph.nodes.at[at.node].flags & DH_NODE_SHARED))
        return;
    at = dh_points_to_fold_cell(w->points_to, at);
    struct dh_term a = dh_value_term(&w->state->values, t->f->function, v);
    struct dh_symex_event e = {.inst = t->inst,
                               .thread = (uint16_t)t->f->thread,
                               .kind = (uint16_t)kind,
                               .flags = flags | event_flags(w, t->f, t->s, t->i, a),
                               .node = at.node,
                               .offset = at.offset,
                               .size = access_size(w->program, t->i),
                               .only_instance = t->s->only_instance,
                               .context = t->f->context};
    if (a.expr && w->state->values.exprs.at[a.expr].kind == DH_EXPR_INDEX)
        e.stride = dh_expr_stride(&w->state->values.exprs.at[a.expr]);
    e.flags |= w->state->second_pass ? own_range(t, v) : 0;
    e.flags |= t->unwinding ? DH_SYMEX_UNWINDING : 0;
    e.flags |= dh_symex_library_object_flags(t, v);
    e.index_extent = reach_of(t, v, &e);
    note_unstable(w, t->f, t->s, &e);
    if (!w->state->second_pass || t->f->in_library_object || dh_symex_is_library_access(t, v))
        return;
    note_element(t, a, &e);
    e.lockset = related_locks(w, t->f, t->s, a, v, false);
    e.flags_seen = related_locks(w, t->f, t->s, a, v, true);
    e.order = intern_order(w, t->s);
    add_event(w, &e);
}

static bool in_array(const struct dh_symex *w, struct dh_heap_cell at)
{
    const struct dh_heap_node *n = &w->points_to->graph.nodes.at[at.node];
    for (unsigned k = 0; k < n->n_folds; k++) {
        const struct dh_array_fold *f = &n->folds[k];
        if (at.offset >= f->start && (!f->length || at.offset < f->start + f->length))
            return true;
    }
    return n->flags & DH_NODE_COLLAPSED;
}

static struct dh_symex_lock held_in(struct dh_symex *w, struct dh_heap_cell at, struct dh_term t,
                                    struct dh_symex_lock h)
{
    h.node = DH_NO_NODE;
    if (at.node == DH_NO_NODE)
        return h;
    at = dh_points_to_fold_cell(w->points_to, at);
    h.node = at.node;
    h.offset = at.offset;
    h.expr = t.exact ? t.expr : 0;
    if (h.expr && w->state->values.exprs.at[h.expr].kind == DH_EXPR_INDEX)
        h.index = w->state->values.exprs.at[h.expr].b;
    h.element = h.index || in_array(w, at);
    return h;
}

struct dh_symex_lock dh_symex_lock_of_operand(struct dh_symex *w, struct dh_symex_activation *f,
                                              const struct dh_inst *i, uint32_t operand, uint16_t mode)
{
    dh_value v = dh_operand(w->program, i, operand);
    struct dh_heap_cell at = dh_symex_bound_cell(w, f, dh_points_to_value(w->points_to, f->function, v));
    struct dh_symex_lock h = {.inst = (uint32_t)(i - w->program->insts.at), .mode = mode};
    return held_in(w, at, dh_value_term(&w->state->values, f->function, v), h);
}

struct dh_heap_cell dh_symex_term_cell(struct dh_symex *w, uint32_t function, struct dh_term t)
{
    struct dh_heap_cell c = t.expr ? expr_cell(w, function, t.expr, 0) : DH_NO_CELL;
    return c.node == DH_NO_NODE ? c : dh_heap_graph_find(&w->points_to->graph, dh_heap_cell_at(c, t.offset));
}

struct dh_symex_lock dh_symex_lock_of_term(struct dh_symex *w, struct dh_symex_activation *f, struct dh_term at,
                                           uint32_t inst)
{
    struct dh_heap_cell c = dh_symex_term_cell(w, f->function, at);
    if (c.node != DH_NO_NODE)
        c = dh_symex_bound_cell(w, f, c);
    return held_in(w, c, at, (struct dh_symex_lock){.inst = inst});
}

static struct dh_symex_event sync_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                                        const struct dh_inst *i, enum dh_symex_event_kind kind,
                                        const struct dh_symex_lock *lock)
{
    struct dh_symex_lock held[DH_LOCKS_MAX];
    unsigned k = 0;
    for (unsigned n = 0; n < s->n_locks; n++) {
        if (dh_symex_lock_is_flag(&s->locks[n]))
            continue;
        held[k] = s->locks[n];
        held[k].relation =
            lock->expr && equal_values(w, f, held[k].expr, lock->expr) ? DH_RELATION_SAME : DH_RELATION_NONE;
        k++;
    }
    return (struct dh_symex_event){.inst = (uint32_t)(i - w->program->insts.at),
                                   .thread = (uint16_t)f->thread,
                                   .kind = (uint16_t)kind,
                                   .flags = s->ignoring ? DH_SYMEX_IGNORED : 0,
                                   .node = lock->node,
                                   .offset = lock->offset,
                                   .lockset = dh_symex_intern_lockset(w, held, k),
                                   .order = intern_order(w, s),
                                   .context = f->context,
                                   .second = DH_NONE};
}

void dh_symex_add_sync_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                             const struct dh_inst *i, enum dh_symex_event_kind kind, const struct dh_symex_lock *lock,
                             const struct dh_symex_lock *second, uint32_t flags)
{
    if (!w->state->second_pass || lock->node == DH_NO_NODE)
        return;
    struct dh_symex_event e = sync_event(w, f, s, i, kind, lock);
    e.flags |= flags;
    uint32_t alone = dh_symex_intern_lockset(w, second, 1);
    e.second = w->locksets.at[alone].first;
    add_event(w, &e);
}

void dh_symex_add_join_event(struct dh_symex *w, struct dh_symex_activation *f, const struct dh_state *s,
                             const struct dh_inst *i, dh_thread_set joined)
{
    if (!w->state->second_pass || s->locks[0].node == DH_NO_NODE)
        return;
    struct dh_symex_event e = sync_event(w, f, s, i, DH_SYMEX_JOIN, &s->locks[0]);
    e.element_joined = joined;
    add_event(w, &e);
}
