/* Context-independent summaries of functions, and which nodes several threads access. */
#include "analysis/condition_barriers.h"
#include "analysis/symex_internal.h"
#include "analysis/thread_escape.h"
#include "base/alloc.h"

static uint32_t bit_of(uint32_t param)
{
    return param < 32 ? 1u << param : 0;
}

/* Parameters that a value may be. */
static uint32_t params_of(struct dh_symex *w, uint32_t function, dh_value v)
{
    struct dh_value_numbering *x = &w->state->values;
    struct dh_term t = dh_value_term(x, function, v);
    if (!t.expr)
        return 0;
    uint32_t root = t.expr;
    root = dh_expr_base(x, root);
    if (x->exprs.at[root].kind == DH_EXPR_PARAM)
        return bit_of(x->exprs.at[root].a);
    if (x->exprs.at[root].kind != DH_EXPR_REGISTER)
        return 0;
    /* Unknown which: all parameters that point to the same node. */
    struct dh_heap_cell c = dh_points_to_value(w->points_to, function, v);
    uint32_t all = 0;
    for (uint32_t n = 0; c.node != DH_NO_NODE && n < w->program->functions.at[function].n_params; n++)
        if (dh_points_to_value(w->points_to, function, n).node == c.node)
            all |= bit_of(n);
    return all;
}

dh_thread_set dh_symex_threads_of(const struct dh_symex *w, uint32_t inst)
{
    dh_thread_set set = 0;
    for (size_t n = 0; n < w->threads.n; n++)
        if (w->threads.at[n].inst == inst)
            set |= (dh_thread_set)1 << n;
    return set;
}

static void summarise_call(struct dh_symex *w, uint32_t function, uint32_t inst, struct dh_function_summary *summary)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    const struct dh_call_graph *c = &w->points_to->calls;
    uint32_t first = i->op == DH_I_CALL ? 1 : 0;
    for (uint32_t it = dh_call_graph_first(c, inst), to; dh_call_graph_next(c, inst, &it, &to);) {
        const struct dh_function_summary *callee = &w->state->summaries[to];
        summary->sync |= callee->sync;
        summary->unlocks |= callee->unlocks;
        summary->throws |= callee->throws;
        summary->barriers |= callee->barriers;
        summary->waits |= callee->waits;
        summary->counts |= callee->counts;
        summary->touches |= callee->touches;
        summary->starts |= callee->starts;
        for (uint32_t n = 0; n < 32 && first + n < i->n_operands; n++)
            if (callee->escapes >> n & 1)
                summary->escapes |= params_of(w, function, dh_operand(w->program, i, first + n));
    }
}

static void escape_operands(struct dh_symex *w, uint32_t function, const struct dh_inst *i, uint32_t first,
                            struct dh_function_summary *summary)
{
    for (uint32_t n = first; n < i->n_operands; n++)
        summary->escapes |= params_of(w, function, dh_operand(w->program, i, n));
}

static bool is_shared_value(struct dh_symex *w, uint32_t function, dh_value v)
{
    struct dh_heap_cell c = dh_points_to_value(w->points_to, function, v);
    return c.node != DH_NO_NODE && w->points_to->graph.nodes.at[c.node].flags & DH_NODE_SHARED;
}

/* In a callee's summary its parameters are not known to be shared: a caller that passes a shared object, or gets one
 * returned, touches it. */
static bool passes_shared(struct dh_symex *w, uint32_t function, const struct dh_inst *i)
{
    bool shared = i->result != DH_NONE && is_shared_value(w, function, i->result);
    for (uint32_t n = 0; n < i->n_operands && !shared; n++)
        shared = is_shared_value(w, function, dh_operand(w->program, i, n));
    return shared;
}

static void summarise_inst(struct dh_symex *w, uint32_t function, uint32_t inst, struct dh_function_summary *summary)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    summary->sync |= i->order && !w->strict; /* atomics may be used as locks */
    switch (i->op) {
    case DH_I_STORE:
    case DH_I_RMW:
    case DH_I_CAS:
        escape_operands(w, function, i, 1, summary);
        break;
    case DH_I_CALL:
        summarise_call(w, function, inst, summary);
        break;
    case DH_I_THROW:
        summary->throws = true;
        break;
    case DH_I_FOREIGN:
        summary->throws = true;
        escape_operands(w, function, i, 0, summary);
        summarise_call(w, function, inst, summary);
        break;
    case DH_I_CREATE:
    case DH_I_REGISTER:
        summary->starts |= dh_symex_threads_of(w, inst);
        escape_operands(w, function, i, dh_inst_callee_operand(i) + 1, summary);
        summary->sync = true;
        break;
    case DH_I_BARRIER_WAIT:
        summary->barriers = true;
        summary->sync = true;
        break;
    case DH_I_UNLOCK:
    case DH_I_ONCE_LEAVE:
        summary->unlocks = true;
        summary->sync = true;
        break;
    default:
        summary->waits |= i->op == DH_I_WAIT;
        if (dh_inst_class(i) == DH_CLASS_SYNC || dh_inst_class(i) == DH_CLASS_THREAD)
            summary->sync = true;
        break;
    }
    if ((dh_inst_class(i) == DH_CLASS_HEAP || i->op == DH_I_SLOT) && i->result != DH_NONE) {
        struct dh_heap_cell c = dh_points_to_value(w->points_to, function, i->result);
        uint32_t of_note = DH_NODE_SHARED | DH_NODE_SYNC_OBJECT, flags = DH_NODE_GLOBAL;
        if (c.node != DH_NO_NODE)
            flags = w->points_to->graph.nodes.at[c.node].flags;
        summary->touches |= flags & DH_NODE_GLOBAL && flags & of_note;
        summary->counts |=
            flags & DH_NODE_GLOBAL ? (flags & of_note) != 0 : w->state->interface_number[c.node] != DH_NONE;
    }
    if (dh_inst_class(i) == DH_CLASS_MEMORY || dh_inst_class(i) == DH_CLASS_HEAP)
        for (uint32_t n = 0; n < i->n_operands && n < 2; n++)
            summary->touches |= is_shared_value(w, function, dh_operand(w->program, i, n));
    else if (dh_inst_class(i) == DH_CLASS_CALL)
        summary->touches |= passes_shared(w, function, i);
}

/* ---- return values ---- */

static bool stored_in(struct dh_symex *w, uint32_t function, const struct dh_inst *i, uint32_t n, uint32_t leaf,
                      uint32_t node)
{
    dh_value v = dh_operand(w->program, i, n);
    struct dh_term t = dh_value_term(&w->state->values, function, v);
    if (t.expr == leaf)
        return true;
    return t.expr && w->state->values.exprs.at[t.expr].kind == DH_EXPR_REGISTER &&
           dh_points_to_value(w->points_to, function, v).node == node;
}

static bool inst_stores(struct dh_symex *w, uint32_t function, uint32_t inst, uint32_t leaf, uint32_t node)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    uint32_t first = 1, escaping = UINT32_MAX;
    if (i->op == DH_I_CALL) {
        escaping = 0;
        for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), to;
             dh_call_graph_next(&w->points_to->calls, inst, &it, &to);)
            escaping |= w->state->summaries[to].escapes;
    } else if (i->op == DH_I_CREATE || i->op == DH_I_REGISTER || i->op == DH_I_FOREIGN) {
        first = 0;
    } else if (i->op != DH_I_STORE && i->op != DH_I_RMW && i->op != DH_I_CAS) {
        return false;
    }
    for (uint32_t n = first; n < i->n_operands; n++)
        if ((n - first >= 32 || escaping >> (n - first) & 1) && stored_in(w, function, i, n, leaf, node))
            return true;
    return false;
}

static bool is_stored(struct dh_symex *w, uint32_t function, uint32_t leaf, uint32_t node)
{
    const struct dh_function *f = &w->program->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &w->program->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
            if (inst_stores(w, function, i, leaf, node))
                return true;
    }
    return false;
}

bool dh_symex_returns_fresh(const struct dh_symex *w, uint32_t call)
{
    bool any = false, all = true;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, call), to;
         dh_call_graph_next(&w->points_to->calls, call, &it, &to);) {
        any = true;
        all &= w->state->summaries[to].returns_new;
    }
    return any && all;
}

static bool is_new(struct dh_symex *w, uint32_t function, uint32_t reg)
{
    uint32_t inst = dh_symex_definitions(w, function)[reg];
    if (inst == DH_NONE)
        return false;
    uint8_t op = w->program->insts.at[inst].op;
    return op == DH_I_ALLOC || (op == DH_I_CALL && dh_symex_returns_fresh(w, inst));
}

/* Every value it returns is null or an object that it allocated and that has not escaped. */
static bool returns_new(struct dh_symex *w, uint32_t function)
{
    const struct dh_value_numbering *x = &w->state->values;
    struct dh_term t = x->returns[function];
    if (!t.expr || !t.exact || t.offset ||
        (x->exprs.at[t.expr].kind != DH_EXPR_OBJECT && x->exprs.at[t.expr].kind != DH_EXPR_REGISTER))
        return false;
    uint32_t reg = x->exprs.at[t.expr].b;
    return is_new(w, function, reg) &&
           !is_stored(w, function, t.expr, dh_points_to_value(w->points_to, function, reg).node);
}

static bool summarise_function(struct dh_symex *w, uint32_t function)
{
    const struct dh_function *f = &w->program->functions.at[function];
    struct dh_function_summary was = w->state->summaries[function], now = was;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &w->program->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
            summarise_inst(w, function, i, &now);
    }
    if (now.escapes && w->state->has_library)
        now.escapes &= dh_symex_escaping_params(w, function);
    now.returns_new = was.returns_new || returns_new(w, function);
    w->state->summaries[function] = now;
    return memcmp(&was, &now, sizeof now) != 0;
}

void dh_symex_summarise_functions(struct dh_symex *w)
{
    const struct dh_call_graph *c = &w->points_to->calls;
    bool moved = true;
    memset(w->state->summaries, 0, w->program->functions.n * sizeof *w->state->summaries);
    for (int round = 0; moved && round < 40; round++) {
        moved = false;
        for (size_t n = 0; n < w->program->functions.n; n++)
            moved |= summarise_function(w, c->order[n]);
    }
    for (uint32_t n = 0; n < w->program->functions.n; n++)
        w->state->summaries[n].has_condition_barrier = dh_is_condition_barrier(w, n);
}

/* ---- shared nodes ---- */

static void mark_reachable_functions(struct dh_symex *w, uint32_t function, uint8_t *reached)
{
    const struct dh_program *p = w->program;
    DH_VEC(uint32_t) todo = {0};
    dh_vec_push(&todo, function);
    while (todo.n) {
        uint32_t at = todo.at[--todo.n];
        const struct dh_function *f = &p->functions.at[at];
        if (reached[at])
            continue;
        reached[at] = 1;
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
            for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++) {
                if (p->insts.at[i].op != DH_I_CALL && p->insts.at[i].op != DH_I_FOREIGN)
                    continue;
                for (uint32_t it = dh_call_graph_first(&w->points_to->calls, i), to;
                     dh_call_graph_next(&w->points_to->calls, i, &it, &to);)
                    dh_vec_push(&todo, to);
            }
    }
    dh_vec_release(&todo);
}

static void mark_thread(struct dh_symex *w, size_t thread, const uint8_t *reached)
{
    struct dh_points_to *s = w->points_to;
    for (uint32_t f = 0; f < w->program->functions.n; f++) {
        if (!reached[f])
            continue;
        const struct dh_scc_summary *facts = &s->sccs[s->calls.scc[f]];
        for (size_t n = 0; n < facts->touched.n; n++) {
            struct dh_heap_cell c = dh_heap_graph_find(&s->graph, (struct dh_heap_cell){facts->touched.at[n], 0});
            w->state->accessed[c.node] |= (dh_thread_set)1 << thread;
        }
    }
}

static bool only_tls(const struct dh_symex *w, const struct dh_heap_node *n)
{
    const struct dh_heap_graph *g = &w->points_to->graph;
    uint32_t at = n->origin;
    if (at == DH_NO_NODE)
        return false;
    do {
        const struct dh_heap_origin *o = &g->origins.at[at];
        if (o->kind != DH_ORIGIN_GLOBAL || !(w->program->globals.at[o->index].flags & DH_GLOBAL_TLS))
            return false;
        at = o->next;
    } while (at != n->origin);
    return true;
}

static bool is_shared(const struct dh_symex *w, uint32_t node, dh_thread_set many)
{
    const struct dh_heap_node *n = &w->points_to->graph.nodes.at[node];
    dh_thread_set by = w->state->accessed[node];
    if (w->strict && n->parent == node && n->flags & DH_NODE_EXPOSED)
        return true;
    /* Atomics alone do not race, but data published by relaxed ones may. */
    bool matters = w->strict || (n->flags & DH_NODE_PLAIN && !only_tls(w, n));
    if (n->parent != node || !(n->flags & DH_NODE_GLOBAL) || !(n->flags & DH_NODE_WRITTEN) || !matters)
        return false;
    return by & many || (by & (by - 1));
}

void dh_symex_find_shared(struct dh_symex *w)
{
    struct dh_heap_graph *g = &w->points_to->graph;
    dh_thread_set many = 0;
    memset(w->state->accessed, 0, g->nodes.n * sizeof *w->state->accessed);
    uint8_t *reached = dh_xmalloc(w->program->functions.n + 1);
    for (size_t t = 0; t < w->threads.n; t++) {
        memset(reached, 0, w->program->functions.n + 1);
        mark_reachable_functions(w, w->threads.at[t].function, reached);
        mark_thread(w, t, reached);
        if (!w->threads.at[t].unique)
            many |= (dh_thread_set)1 << t;
    }
    free(reached);
    uint8_t *confined = dh_find_thread_confined(w->points_to);
    for (uint32_t n = 0; n < g->nodes.n; n++) {
        g->nodes.at[n].flags &= ~(uint32_t)DH_NODE_SHARED;
        if (!confined[n] && is_shared(w, n, many))
            g->nodes.at[n].flags |= DH_NODE_SHARED;
    }
    free(confined);
}
