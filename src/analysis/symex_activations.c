/* Activations: a function in one context, and what its summary's objects are bound to there. */
#include "analysis/symex_internal.h"
#include "base/alloc.h"

static struct dh_heap_graph *graph_of(struct dh_symex *w)
{
    return &w->points_to->graph;
}

/* ---- interfaces: nodes that callers share with a function ---- */

static void add_reachable(struct dh_symex *w, struct dh_scc_interface *in, struct dh_heap_cell from)
{
    struct dh_heap_graph *g = graph_of(w);
    DH_VEC(uint32_t) todo = {0};
    if (from.node != DH_NO_NODE)
        dh_vec_push(&todo, from.node);
    while (todo.n) {
        uint32_t at = dh_heap_graph_find(g, (struct dh_heap_cell){todo.at[--todo.n], 0}).node;
        const struct dh_heap_node *n = &g->nodes.at[at];
        if (n->flags & DH_NODE_GLOBAL || w->state->interface_number[at] != DH_NONE)
            continue;
        w->state->interface_number[at] = (uint32_t)in->nodes.n;
        dh_vec_push(&in->nodes, at);
        for (unsigned k = 0; k < n->n_edges; k++)
            dh_vec_push(&todo, n->edges[k].to.node);
    }
    dh_vec_release(&todo);
}

void dh_symex_find_interfaces(struct dh_symex *w)
{
    struct dh_points_to *s = w->points_to;
    memset(w->state->interface_number, 0xff, s->graph.nodes.n * sizeof *w->state->interface_number);
    for (uint32_t scc = 0; scc < s->calls.n_sccs; scc++)
        for (uint32_t n = s->calls.scc_first[scc]; n < s->calls.scc_first[scc + 1]; n++) {
            uint32_t f = s->calls.order[n];
            for (uint32_t k = 0; k < w->program->functions.at[f].n_params; k++)
                add_reachable(w, &w->state->interfaces[scc], dh_points_to_value(s, f, k));
            add_reachable(w, &w->state->interfaces[scc], dh_heap_graph_find(&s->graph, s->returns[f]));
        }
}

/* ---- binding ---- */

struct dh_symex_binding dh_symex_binding_of(struct dh_symex *w, const struct dh_symex_activation *f,
                                            struct dh_heap_cell c)
{
    if (c.node == DH_NO_NODE)
        return (struct dh_symex_binding){DH_NO_NODE, 0};
    if (graph_of(w)->nodes.at[c.node].flags & DH_NODE_GLOBAL)
        return (struct dh_symex_binding){c.node, 0};
    uint32_t number = w->state->interface_number[c.node];
    if (number == DH_NONE || number >= f->n_bindings)
        return (struct dh_symex_binding){DH_NO_NODE, 0};
    return w->state->bindings.at[f->binding + number];
}

struct dh_heap_cell dh_symex_bound_cell(struct dh_symex *w, const struct dh_symex_activation *f, struct dh_heap_cell c)
{
    c = dh_heap_graph_find(graph_of(w), c);
    struct dh_symex_binding b = dh_symex_binding_of(w, f, c);
    if (b.node == DH_NO_NODE)
        return DH_NO_CELL;
    return dh_heap_graph_find(graph_of(w), (struct dh_heap_cell){b.node, c.offset + b.distance});
}

static bool distinguishes_contexts(const struct dh_symex *w, uint32_t node)
{
    uint32_t flags = node == DH_NO_NODE ? 0 : w->points_to->graph.nodes.at[node].flags;
    return flags & (DH_NODE_SHARED | DH_NODE_SYNC_OBJECT | DH_NODE_EXPOSED | (w->strict ? 0 : DH_NODE_ATOMIC));
}

static bool binds_all(const struct dh_symex *w)
{
    return w->cache == DH_CACHE_WORST || w->cache == DH_CACHE_UNPRUNED;
}

/* Traverses the callee's summary and the caller's objects in parallel. `caller` NULL: the objects are global. */
static void bind_from(struct dh_symex *w, const struct dh_symex_activation *caller, struct dh_symex_activation *callee,
                      struct dh_heap_cell callee_cell, struct dh_heap_cell caller_cell)
{
    struct dh_heap_graph *g = graph_of(w);
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    dh_vec_push(&todo, (struct dh_heap_cell_pair){callee_cell, caller_cell});
    while (todo.n) {
        struct dh_heap_cell_pair p = todo.at[--todo.n];
        p.a = dh_heap_graph_find(g, p.a);
        p.b = dh_heap_graph_find(g, p.b);
        if (p.a.node == DH_NO_NODE || p.b.node == DH_NO_NODE || g->nodes.at[p.a.node].flags & DH_NODE_GLOBAL)
            continue;
        uint32_t number = w->state->interface_number[p.a.node];
        if (number == DH_NONE || g->nodes.at[p.a.node].mark == g->mark)
            continue;
        g->nodes.at[p.a.node].mark = g->mark;
        struct dh_symex_binding *b = &w->state->bindings.at[callee->binding + number];
        struct dh_heap_cell at = caller ? dh_symex_bound_cell(w, caller, p.b) : p.b;
        if (at.node == DH_NO_NODE && binds_all(w))
            at = p.b;
        if (w->cache == DH_CACHE_BEST && !distinguishes_contexts(w, at.node))
            continue;
        if (at.node != DH_NO_NODE)
            *b = (struct dh_symex_binding){at.node, at.offset - p.a.offset};
        for (unsigned k = 0; k < g->nodes.at[p.a.node].n_edges; k++) {
            struct dh_heap_edge e = g->nodes.at[p.a.node].edges[k];
            struct dh_heap_cell to = dh_heap_graph_find_pointee(g, dh_heap_cell_at(p.b, e.offset - p.a.offset));
            if (to.node != DH_NO_NODE)
                dh_vec_push(&todo, (struct dh_heap_cell_pair){e.to, to});
        }
    }
    dh_vec_release(&todo);
}

static void begin_bindings(struct dh_symex *w, struct dh_symex_activation *f)
{
    uint32_t scc = w->points_to->calls.scc[f->function];
    f->binding = (uint32_t)w->state->bindings.n;
    f->own_bindings = true;
    f->n_bindings = (uint32_t)w->state->interfaces[scc].nodes.n;
    for (uint32_t n = 0; n < f->n_bindings; n++)
        dh_vec_push(&w->state->bindings, (struct dh_symex_binding){DH_NO_NODE, 0});
    dh_heap_graph_begin_clone(graph_of(w));
}

/* Contexts that differ only in objects that are not shared are one. */
static void end_bindings(struct dh_symex *w, struct dh_symex_activation *f)
{
    for (uint32_t n = 0; n < f->n_bindings; n++) {
        struct dh_symex_binding *b = &w->state->bindings.at[f->binding + n];
        if (!binds_all(w) && !distinguishes_contexts(w, b->node))
            *b = (struct dh_symex_binding){DH_NO_NODE, 0};
    }
}

void dh_symex_bind_call(struct dh_symex *w, const struct dh_symex_activation *caller, const struct dh_inst *call,
                        uint32_t first, struct dh_symex_activation *callee)
{
    struct dh_points_to *s = w->points_to;
    if (s->calls.scc[callee->function] == s->calls.scc[caller->function]) {
        callee->binding = caller->binding;
        callee->n_bindings = caller->n_bindings;
        callee->own_bindings = false;
        return;
    }
    begin_bindings(w, callee);
    for (uint32_t n = 0; n < w->program->functions.at[callee->function].n_params; n++)
        if (first + n < call->n_operands)
            bind_from(w, caller, callee, dh_points_to_value(s, callee->function, n),
                      dh_points_to_value(s, caller->function, dh_operand(w->program, call, first + n)));
    if (call->result != DH_NONE)
        bind_from(w, caller, callee, s->returns[callee->function],
                  dh_points_to_value(s, caller->function, call->result));
    end_bindings(w, callee);
}

void dh_symex_bind_instance(struct dh_symex *w, const struct dh_common_instance *in, struct dh_symex_activation *callee)
{
    struct dh_points_to *s = w->points_to;
    uint32_t n_params = w->program->functions.at[in->function].n_params;
    begin_bindings(w, callee);
    for (uint32_t n = 0; n < n_params; n++)
        bind_from(w, NULL, callee, dh_points_to_value(s, in->function, n), s->cells.at[in->cells + n]);
    bind_from(w, NULL, callee, s->returns[in->function], s->cells.at[in->cells + n_params]);
    end_bindings(w, callee);
}

bool dh_symex_binds_shared(struct dh_symex *w, const struct dh_symex_activation *f)
{
    uint32_t scc = w->points_to->calls.scc[f->function];
    for (uint32_t n = 0; n < f->n_bindings; n++) {
        const struct dh_symex_binding *b = &w->state->bindings.at[f->binding + n];
        uint32_t own = graph_of(w)->nodes.at[w->state->interfaces[scc].nodes.at[n]].flags;
        if (b->node != DH_NO_NODE && own & DH_NODE_ACCESSED && graph_of(w)->nodes.at[b->node].flags & DH_NODE_SHARED)
            return true;
    }
    return false;
}

/* ---- one activation for each context ---- */

static uint64_t hash_activation(const struct dh_symex *w, const struct dh_symex_activation *f)
{
    uint64_t h = dh_hash_combine(f->function, f->thread * 16u + f->under_construction * 8u + f->in_library_object * 4u +
                                                  f->may_repeat * 2u + f->unwinding);
    for (unsigned n = 0; n < DH_ATTRIBUTES_MAX; n++)
        h = dh_hash_combine(h, (uint64_t)f->attributes[n] << 16 | f->loops[n]);
    for (uint32_t n = 0; n < f->n_bindings; n++) {
        const struct dh_symex_binding *b = &w->state->bindings.at[f->binding + n];
        h = dh_hash_combine(h, (uint64_t)b->node << 32 | (uint32_t)b->distance);
    }
    for (unsigned n = 0; n < f->in.n_locks; n++) {
        const struct dh_symex_lock *l = &f->in.locks[n];
        h = dh_hash_combine(h, (uint64_t)l->node << 32 | l->expr);
        h = dh_hash_combine(h, (uint64_t)(uint32_t)l->offset << 32 | (uint64_t)l->mode << 31 | l->index);
        h = dh_hash_combine(h, (uint64_t)l->recursion << 32 | l->reached_params);
        h = dh_hash_combine(h, (uint64_t)l->sync_kind << 56 ^ (uint64_t)l->pending << 48 ^ (uint64_t)l->test << 40 ^
                                   (uint64_t)l->number);
    }
    h = dh_hash_combine(h, f->from);
    h = dh_hash_combine(h, f->in.started);
    h = dh_hash_combine(h, f->in.joined);
    h = dh_hash_combine(h, f->in.joined_heuristic);
    h = dh_hash_combine(h, f->in.phase);
    h = dh_hash_combine(h, f->in.only_instance);
    return dh_hash_combine(h, f->in.ignoring);
}

static bool same_locks(const struct dh_state *a, const struct dh_state *b)
{
    if (a->n_locks != b->n_locks)
        return false;
    for (unsigned n = 0; n < a->n_locks; n++) {
        const struct dh_symex_lock *p = &a->locks[n], *q = &b->locks[n];
        if (p->node != q->node || p->offset != q->offset || p->expr != q->expr || p->mode != q->mode ||
            p->index != q->index || p->reached_params != q->reached_params || p->recursion != q->recursion ||
            !dh_symex_lock_same_kind(p, q))
            return false;
    }
    return true;
}

static bool same_activation(const struct dh_symex *w, const struct dh_symex_activation *a,
                            const struct dh_symex_activation *b)
{
    const struct dh_symex_binding *all = w->state->bindings.at;
    bool same = a->function == b->function && a->thread == b->thread && a->may_repeat == b->may_repeat &&
                a->unwinding == b->unwinding && a->in_library_object == b->in_library_object &&
                a->under_construction == b->under_construction && a->n_bindings == b->n_bindings &&
                a->from == b->from && a->in.started == b->in.started && a->in.joined == b->in.joined &&
                a->in.joined_heuristic == b->in.joined_heuristic && a->in.phase == b->in.phase &&
                a->in.only_instance == b->in.only_instance && a->in.ignoring == b->in.ignoring &&
                memcmp(a->attributes, b->attributes, sizeof a->attributes) == 0 &&
                memcmp(a->loops, b->loops, sizeof a->loops) == 0 && same_locks(&a->in, &b->in);
    for (uint32_t n = 0; same && a->binding != b->binding && n < a->n_bindings; n++)
        same = all[a->binding + n].node == all[b->binding + n].node &&
               all[a->binding + n].distance == all[b->binding + n].distance;
    return same;
}

static void note_caller(struct dh_symex *w, uint32_t context, uint32_t caller, uint32_t call)
{
    struct dh_symex_state *s = w->state;
    const struct dh_context *c = &w->contexts.at[context];
    if (!s->second_pass || caller == DH_NONE || (c->caller == caller && c->call == call))
        return;
    while (s->callers_of.n <= context)
        dh_vec_push(&s->callers_of, 0);
    unsigned n = 0;
    for (uint32_t k = s->callers_of.at[context]; k; k = s->callers.at[k - 1].next)
        if ((s->callers.at[k - 1].caller == caller && s->callers.at[k - 1].call == call) || ++n > DH_CALLERS_MAX)
            return;
    if (n == DH_CALLERS_MAX)
        caller = call = DH_NONE; /* and others */
    dh_vec_push(&s->callers, ((struct dh_context_caller){caller, call, s->callers_of.at[context]}));
    s->callers_of.at[context] = (uint32_t)s->callers.n;
}

struct dh_symex_activation *dh_symex_get_activation(struct dh_symex *w, const struct dh_symex_activation *wanted,
                                                    uint32_t caller, uint32_t call)
{
    struct dh_symex_state *s = w->state;
    uint64_t hash = hash_activation(w, wanted);
    struct dh_probe probe = dh_index_probe(&s->activation_index, hash);
    for (uint32_t n; (n = dh_index_next(&s->activation_index, &probe)) != DH_ABSENT;) {
        struct dh_symex_activation *f = s->activations.at[n];
        if (!same_activation(w, f, wanted))
            continue;
        /* Drop the bindings of the query. */
        if (wanted->own_bindings && wanted->binding + wanted->n_bindings == s->bindings.n)
            s->bindings.n = wanted->binding;
        note_caller(w, f->context, caller, call);
        return f;
    }
    struct dh_symex_activation *f = dh_xmemdup(wanted, sizeof *wanted);
    f->status = DH_ACTIVATION_NEW;
    f->called = false;
    f->context = (uint32_t)w->contexts.n;
    dh_vec_push(&w->contexts, (struct dh_context){f->function, caller, call, f->thread});
    dh_index_add(&s->activation_index, hash, (uint32_t)s->activations.n);
    dh_vec_push(&s->activations, f);
    s->n_activations[f->function]++;
    return f;
}
