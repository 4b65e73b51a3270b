/* Objects that nobody else knew and that a callee makes known without being given them: pointers to them lie in what it
 * is given, as variables that a closure captures by reference do, and it copies those to where others look, or keeps
 * them in another object it was given. Told by shapes alone: wherever the callee's summary leads to. */
#include "analysis/symex_internal.h"

enum { RETURNED = 31, LARGE = 4096 };

static uint32_t bit_of(uint32_t param)
{
    return 1u << (param < RETURNED ? param : RETURNED - 1);
}

/* Marks what hangs on an object, not the object itself. */
static void mark_below(struct dh_symex *w, struct dh_heap_cell from, uint32_t bit, uint32_t *masks)
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

static bool hangs_on_params(struct dh_symex *w, uint32_t function, uint32_t node, const uint32_t *masks)
{
    uint32_t number = node == DH_NO_NODE ? DH_NONE : w->state->interface_number[node];
    if (number == DH_NONE || masks[number])
        return true;
    for (uint32_t n = 0; n < w->program->functions.at[function].n_params; n++)
        if (dh_points_to_value(w->points_to, function, n).node == node)
            return true;
    return false;
}

/* By number in the interface of its group: parameters on which an object hangs, and whether on a new result. */
static const uint32_t *masks_of(struct dh_symex *w, uint32_t function)
{
    uint32_t **at = &w->state->hanging[function];
    if (*at)
        return *at;
    uint32_t *masks = calloc(w->state->interfaces[w->points_to->calls.group[function]].nodes.n + 1, sizeof *masks);
    if (!masks)
        abort();
    for (uint32_t n = 0; n < w->program->functions.at[function].n_params; n++)
        mark_below(w, dh_points_to_value(w->points_to, function, n), bit_of(n), masks);
    struct dh_heap_cell result = dh_heap_graph_find(&w->points_to->graph, w->points_to->returns[function]);
    if (!hangs_on_params(w, function, result.node, masks))
        mark_below(w, result, 1u << RETURNED, masks);
    return *at = masks;
}

uint32_t dh_symex_escaping_params(struct dh_symex *w, uint32_t function)
{
    struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t kept = 0;
    if (w->state->interfaces[w->points_to->calls.group[function]].nodes.n > LARGE)
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

/* Parameters that are objects which nobody else knows, too: what is kept in them stays secret. */
static uint32_t secret_arguments(struct dh_symex_step *t, uint32_t first)
{
    const struct dh_value_numbering *x = &t->w->state->values;
    uint32_t secret = 0;
    for (uint32_t n = 0; first + n < t->i->n_operands && n < RETURNED - 1; n++) {
        uint32_t root =
            dh_value_term(&t->w->state->values, t->f->function, dh_operand(t->w->program, t->i, first + n)).expr;
        while (root && x->exprs.at[root].kind == DH_EXPR_INDEX)
            root = x->exprs.at[root].a;
        if (root && dh_state_is_fresh(t->s, root))
            secret |= 1u << n;
    }
    return secret;
}

/* One object of the caller's in a callee. */
struct question {
    struct dh_symex_step *t;
    uint32_t target, node; /* node: the object in the caller */
    uint32_t secret;
    const uint32_t *masks;
};

static bool is_made_known(const struct question *q, uint32_t theirs)
{
    struct dh_symex *w = q->t->w;
    if (w->points_to->graph.nodes.at[theirs].flags & DH_NODE_GLOBAL)
        return true;
    uint32_t number = w->state->interface_number[theirs];
    return number != DH_NONE && (q->masks[number] & ~q->secret) != 0;
}

/* Side by side through the callee's summary and the caller's objects. */
static bool leaks_from(const struct question *q, struct dh_heap_cell theirs, struct dh_heap_cell mine)
{
    struct dh_heap_graph *g = &q->t->w->points_to->graph;
    DH_VEC(struct dh_heap_cell_pair) todo = {0};
    bool found = false;
    dh_vec_push(&todo, ((struct dh_heap_cell_pair){theirs, mine}));
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
            struct dh_heap_cell their = dh_heap_graph_find(g, e.to);
            if (to.node == DH_NO_NODE || their.node == DH_NO_NODE)
                continue;
            to = dh_heap_graph_find(g, to);
            found = to.node == q->node && is_made_known(q, their.node);
            if (!(g->nodes.at[their.node].flags & DH_NODE_GLOBAL))
                dh_vec_push(&todo, ((struct dh_heap_cell_pair){their, to}));
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

static bool leaks(struct dh_symex_step *t, uint32_t target, uint32_t first, uint32_t node)
{
    struct dh_symex *w = t->w;
    struct question q = {t, target, node, secret_arguments(t, first), masks_of(w, target)};
    q.secret |= w->state->facts[target].returns_new ? 1u << RETURNED : 0;
    for (uint32_t n = 0; n < w->program->functions.at[target].n_params && first + n < t->i->n_operands; n++) {
        dh_heap_graph_begin_clone(&w->points_to->graph); /* a new mark */
        if (leaks_from(&q, dh_points_to_value(w->points_to, target, n),
                       dh_points_to_value(w->points_to, t->f->function, dh_operand(w->program, t->i, first + n))))
            return true;
    }
    return false;
}

uint32_t dh_symex_escaping_fresh(struct dh_symex_step *t, uint32_t target, uint32_t first)
{
    uint32_t leaked = 0;
    for (unsigned n = 0; n < t->s->n_fresh; n++) {
        if (!(t->s->tied >> n & 1))
            continue;
        uint32_t node = node_of(t, t->s->fresh[n]);
        bool known =
            node != DH_NO_NODE && dh_symex_bound_cell(t->w, t->f, (struct dh_heap_cell){node, 0}).node != DH_NO_NODE;
        if (known && leaks(t, target, first, node))
            leaked |= 1u << n;
    }
    return leaked;
}

/* Memory is copied to where others look: so are the pointers in it. */
void dh_symex_escape_copied(struct dh_symex_step *t, uint32_t source)
{
    struct dh_heap_graph *g = &t->w->points_to->graph;
    dh_value v = dh_operand(t->w->program, t->i, source);
    struct dh_heap_cell from = dh_heap_graph_find(g, dh_points_to_value(t->w->points_to, t->f->function, v));
    for (unsigned k = 0; from.node != DH_NO_NODE && k < g->nodes.at[from.node].n_edges; k++) {
        uint32_t to = dh_heap_graph_find(g, g->nodes.at[from.node].edges[k].to).node;
        for (unsigned n = 0; n < t->s->n_fresh;) {
            if (t->s->tied >> n & 1 && node_of(t, t->s->fresh[n]) == to)
                dh_state_escape(t->s, t->s->fresh[n]), n = 0;
            else
                n++;
        }
    }
}
