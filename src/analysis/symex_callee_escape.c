/* Fresh objects that escape in a callee that is not passed them: pointers to them lie in what it is passed, as
 * variables that a closure captures by reference do, and it copies those to shared memory or stores them in another
 * argument. By reachability in the callee's summary. */
#include "analysis/symex_internal.h"
#include "base/alloc.h"

enum { RETURNED = 31, LARGE = 4096 };

static uint32_t bit_of(uint32_t param)
{
    return 1u << (param < RETURNED ? param : RETURNED - 1);
}

/* Marks what is reachable from an object, not the object itself. */
static void mark_reachable(struct dh_symex *w, struct dh_heap_cell from, uint32_t bit, uint32_t *masks)
{
    struct dh_heap_graph *g = &w->points_to->graph;
    DH_VEC(uint32_t) todo = {0};
    if (from.node != DH_NO_NODE)
        dh_vec_push(&todo, dh_heap_graph_find(g, from).node);
    while (todo.n) {
        const struct dh_heap_node *n = &g->nodes.at[todo.at[--todo.n]];
        for (unsigned k = 0; k < n->n_edges; k++) {
            uint32_t to = dh_heap_graph_find(g, n->edges[k].to).node, number = w->state->interface_number[to];
            if (g->nodes.at[to].flags & DH_NODE_GLOBAL || number == DH_NONE || masks[number] & bit)
                continue;
            masks[number] |= bit;
            dh_vec_push(&todo, to);
        }
    }
    dh_vec_release(&todo);
}

static bool is_reachable_from_params(struct dh_symex *w, uint32_t function, uint32_t node, const uint32_t *masks)
{
    uint32_t number = node == DH_NO_NODE ? DH_NONE : w->state->interface_number[node];
    if (number == DH_NONE || masks[number])
        return true;
    for (uint32_t n = 0; n < w->program->functions.at[function].n_params; n++)
        if (dh_points_to_value(w->points_to, function, n).node == node)
            return true;
    return false;
}

/* By number in the interface of its SCC: parameters from which an object is reachable, and whether from a newly
 * allocated result. */
static const uint32_t *masks_of(struct dh_symex *w, uint32_t function)
{
    uint32_t **at = &w->state->reached_from[function];
    if (*at)
        return *at;
    uint32_t *masks = dh_xcalloc(w->state->interfaces[w->points_to->calls.scc[function]].nodes.n + 1, sizeof *masks);
    for (uint32_t n = 0; n < w->program->functions.at[function].n_params; n++)
        mark_reachable(w, dh_points_to_value(w->points_to, function, n), bit_of(n), masks);
    struct dh_heap_cell result = dh_heap_graph_find(&w->points_to->graph, w->points_to->returns[function]);
    if (!is_reachable_from_params(w, function, result.node, masks))
        mark_reachable(w, result, 1u << RETURNED, masks);
    return *at = masks;
}

uint32_t dh_symex_escaping_params(struct dh_symex *w, uint32_t function)
{
    struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t kept = 0;
    if (w->state->interfaces[w->points_to->calls.scc[function]].nodes.n > LARGE)
        return UINT32_MAX;
    const uint32_t *masks = masks_of(w, function);
    for (uint32_t n = 0; n < w->program->functions.at[function].n_params; n++) {
        struct dh_heap_cell c = dh_points_to_value(w->points_to, function, n);
        uint32_t number = c.node == DH_NO_NODE ? DH_NONE : w->state->interface_number[c.node];
        if (number == DH_NONE || g->nodes.at[c.node].flags & (DH_NODE_GLOBAL | DH_NODE_EXPOSED) ||
            masks[number] & ~bit_of(n))
            kept |= bit_of(n);
    }
    return kept;
}

/* Arguments that are fresh objects, too: what is stored in them does not escape. */
static uint32_t fresh_arguments(struct dh_symex_step *t, uint32_t first)
{
    const struct dh_value_numbering *x = &t->w->state->values;
    uint32_t fresh = 0;
    for (uint32_t n = 0; first + n < t->i->n_operands && n < RETURNED - 1; n++) {
        uint32_t root =
            dh_value_term(&t->w->state->values, t->f->function, dh_operand(t->w->program, t->i, first + n)).expr;
        root = dh_expr_base(x, root);
        if (root && dh_state_is_fresh(t->s, root))
            fresh |= 1u << n;
    }
    return fresh;
}

/* One fresh object of the caller in a callee. */
struct escape_query {
    struct dh_symex_step *t;
    uint32_t target, node; /* node: the object in the caller */
    uint32_t fresh;
    const uint32_t *masks;
};

static bool escapes_at(const struct escape_query *q, uint32_t callee_cell)
{
    struct dh_symex *w = q->t->w;
    if (w->points_to->graph.nodes.at[callee_cell].flags & DH_NODE_GLOBAL)
        return true;
    uint32_t number = w->state->interface_number[callee_cell];
    return number != DH_NONE && (q->masks[number] & ~q->fresh) != 0;
}

/* Traverses the callee's summary and the caller's objects in parallel. */
static bool escapes_below(const struct escape_query *q, struct dh_heap_cell callee_cell,
                          struct dh_heap_cell caller_cell)
{
    struct dh_heap_graph *g = &q->t->w->points_to->graph;
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    bool found = false;
    dh_vec_push(&todo, ((struct dh_heap_cell_pair){callee_cell, caller_cell}));
    while (todo.n && !found) {
        struct dh_heap_cell_pair p = todo.at[--todo.n];
        p.a = dh_heap_graph_find(g, p.a);
        p.b = dh_heap_graph_find(g, p.b);
        if (p.a.node == DH_NO_NODE || p.b.node == DH_NO_NODE || g->nodes.at[p.a.node].mark == g->mark)
            continue;
        g->nodes.at[p.a.node].mark = g->mark;
        for (unsigned k = 0; k < g->nodes.at[p.a.node].n_edges && !found; k++) {
            struct dh_heap_edge e = g->nodes.at[p.a.node].edges[k];
            struct dh_heap_cell to = dh_heap_graph_find_pointee(g, dh_heap_cell_at(p.b, e.offset - p.a.offset));
            struct dh_heap_cell callee_target = dh_heap_graph_find(g, e.to);
            if (to.node == DH_NO_NODE || callee_target.node == DH_NO_NODE)
                continue;
            to = dh_heap_graph_find(g, to);
            found = to.node == q->node && escapes_at(q, callee_target.node);
            if (!(g->nodes.at[callee_target.node].flags & DH_NODE_GLOBAL))
                dh_vec_push(&todo, ((struct dh_heap_cell_pair){callee_target, to}));
        }
    }
    dh_vec_release(&todo);
    return found;
}

static uint32_t node_of(struct dh_symex_step *t, uint32_t leaf)
{
    struct dh_expr e = t->w->state->values.exprs.at[leaf];
    return dh_points_to_value(t->w->points_to, t->f->function, e.kind == DH_EXPR_PARAM ? e.a : e.b).node;
}

static bool escapes_in(struct dh_symex_step *t, uint32_t target, uint32_t first, uint32_t node)
{
    struct dh_symex *w = t->w;
    struct escape_query q = {t, target, node, fresh_arguments(t, first), masks_of(w, target)};
    q.fresh |= w->state->summaries[target].returns_new ? 1u << RETURNED : 0;
    for (uint32_t n = 0; n < w->program->functions.at[target].n_params && first + n < t->i->n_operands; n++) {
        dh_heap_graph_begin_clone(&w->points_to->graph); /* a new mark */
        if (escapes_below(&q, dh_points_to_value(w->points_to, target, n),
                          dh_points_to_value(w->points_to, t->f->function, dh_operand(w->program, t->i, first + n))))
            return true;
    }
    return false;
}

uint32_t dh_symex_escaping_fresh(struct dh_symex_step *t, uint32_t target, uint32_t first)
{
    uint32_t escaping = 0;
    for (unsigned n = 0; n < t->s->n_fresh; n++) {
        if (!(t->s->nested >> n & 1))
            continue;
        uint32_t node = node_of(t, t->s->fresh[n]);
        bool known =
            node != DH_NO_NODE && dh_symex_bound_cell(t->w, t->f, (struct dh_heap_cell){node, 0}).node != DH_NO_NODE;
        if (known && escapes_in(t, target, first, node))
            escaping |= 1u << n;
    }
    return escaping;
}

/* Memory is copied to shared memory: the pointers in it escape. */
void dh_symex_escape_copied(struct dh_symex_step *t, uint32_t source)
{
    struct dh_heap_graph *g = &t->w->points_to->graph;
    dh_value v = dh_operand(t->w->program, t->i, source);
    struct dh_heap_cell from = dh_heap_graph_find(g, dh_points_to_value(t->w->points_to, t->f->function, v));
    for (unsigned k = 0; from.node != DH_NO_NODE && k < g->nodes.at[from.node].n_edges; k++) {
        uint32_t to = dh_heap_graph_find(g, g->nodes.at[from.node].edges[k].to).node;
        for (unsigned n = 0; n < t->s->n_fresh;) {
            if (t->s->nested >> n & 1 && node_of(t, t->s->fresh[n]) == to)
                dh_state_escape(t->s, t->s->fresh[n]), n = 0;
            else
                n++;
        }
    }
}
