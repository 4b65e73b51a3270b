/* What functions do wherever they are called, and which objects several threads access. */
#include "analysis/condition_barriers.h"
#include "analysis/symex_internal.h"
#include "analysis/thread_escape.h"

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
    while (x->exprs.at[root].kind == DH_EXPR_INDEX)
        root = x->exprs.at[root].a;
    if (x->exprs.at[root].kind == DH_EXPR_PARAM)
        return bit_of(x->exprs.at[root].a);
    if (x->exprs.at[root].kind != DH_EXPR_REGISTER)
        return 0;
    /* Nobody knows which: all that lead to the same object. */
    struct dh_heap_cell c = dh_points_to_value(w->points_to, function, v);
    uint32_t all = 0;
    for (uint32_t n = 0; c.node != DH_NO_NODE && n < w->program->functions.at[function].n_params; n++)
        if (dh_points_to_value(w->points_to, function, n).node == c.node)
            all |= bit_of(n);
    return all;
}

static dh_thread_set threads_of(const struct dh_symex *w, uint32_t inst)
{
    dh_thread_set set = 0;
    for (size_t n = 0; n < w->threads.n; n++)
        if (w->threads.at[n].inst == inst)
            set |= (dh_thread_set)1 << n;
    return set;
}

static void call_facts(struct dh_symex *w, uint32_t function, uint32_t inst, struct dh_function_summary *mine)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    const struct dh_call_graph *c = &w->points_to->calls;
    uint32_t first = i->op == DH_I_CALL ? 1 : 0;
    for (uint32_t it = dh_call_graph_first(c, inst), to; dh_call_graph_next(c, inst, &it, &to);) {
        const struct dh_function_summary *theirs = &w->state->facts[to];
        mine->sync |= theirs->sync;
        mine->unlocks |= theirs->unlocks;
        mine->throws |= theirs->throws;
        mine->barriers |= theirs->barriers;
        mine->waits |= theirs->waits;
        mine->counts |= theirs->counts;
        mine->touches |= theirs->touches;
        mine->starts |= theirs->starts;
        for (uint32_t n = 0; n < 32 && first + n < i->n_operands; n++)
            if (theirs->escapes >> n & 1)
                mine->escapes |= params_of(w, function, dh_operand(w->program, i, first + n));
    }
}

static void escape_operands(struct dh_symex *w, uint32_t function, const struct dh_inst *i, uint32_t first,
                            struct dh_function_summary *mine)
{
    for (uint32_t n = first; n < i->n_operands; n++)
        mine->escapes |= params_of(w, function, dh_operand(w->program, i, n));
}

static bool is_shared_value(struct dh_symex *w, uint32_t function, dh_value v)
{
    struct dh_heap_cell c = dh_points_to_value(w->points_to, function, v);
    return c.node != DH_NO_NODE && w->points_to->graph.nodes.at[c.node].flags & DH_NODE_SHARED;
}

/* In its own words a callee accesses what its parameters lead to, and nobody knows yet what that is: who gives it
 * something shared, a global's address or what another call returned, does touch it. */
static bool passes_shared(struct dh_symex *w, uint32_t function, const struct dh_inst *i)
{
    bool shared = i->result != DH_NONE && is_shared_value(w, function, i->result);
    for (uint32_t n = 0; n < i->n_operands && !shared; n++)
        shared = is_shared_value(w, function, dh_operand(w->program, i, n));
    return shared;
}

static void inst_facts(struct dh_symex *w, uint32_t function, uint32_t inst, struct dh_function_summary *mine)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    mine->sync |= i->order && !w->strict; /* of which locks may be made */
    switch (i->op) {
    case DH_I_STORE:
    case DH_I_RMW:
    case DH_I_CAS:
        escape_operands(w, function, i, 1, mine);
        break;
    case DH_I_CALL:
        call_facts(w, function, inst, mine);
        break;
    case DH_I_THROW:
        mine->throws = true;
        break;
    case DH_I_FOREIGN:
        mine->throws = true;
        escape_operands(w, function, i, 0, mine);
        call_facts(w, function, inst, mine);
        break;
    case DH_I_CREATE:
    case DH_I_REGISTER:
        mine->starts |= threads_of(w, inst);
        escape_operands(w, function, i, dh_inst_callee_operand(i) + 1, mine);
        mine->sync = true;
        break;
    case DH_I_BARRIER_WAIT:
        mine->barriers = true;
        mine->sync = true;
        break;
    case DH_I_UNLOCK:
    case DH_I_ONCE_LEAVE:
        mine->unlocks = true;
        mine->sync = true;
        break;
    default:
        mine->waits |= i->op == DH_I_WAIT;
        if (dh_inst_class(i) == DH_CLASS_SYNC || dh_inst_class(i) == DH_CLASS_THREAD)
            mine->sync = true;
        break;
    }
    if ((dh_inst_class(i) == DH_CLASS_HEAP || i->op == DH_I_SLOT) && i->result != DH_NONE) {
        struct dh_heap_cell c = dh_points_to_value(w->points_to, function, i->result);
        uint32_t of_note = DH_NODE_SHARED | DH_NODE_SYNC_OBJECT, flags = DH_NODE_GLOBAL;
        if (c.node != DH_NO_NODE)
            flags = w->points_to->graph.nodes.at[c.node].flags;
        mine->touches |= flags & DH_NODE_GLOBAL && flags & of_note;
        mine->counts |= flags & DH_NODE_GLOBAL ? (flags & of_note) != 0 : w->state->interface_number[c.node] != DH_NONE;
    }
    if (dh_inst_class(i) == DH_CLASS_MEMORY || dh_inst_class(i) == DH_CLASS_HEAP)
        for (uint32_t n = 0; n < i->n_operands && n < 2; n++)
            mine->touches |= is_shared_value(w, function, dh_operand(w->program, i, n));
    else if (dh_inst_class(i) == DH_CLASS_CALL)
        mine->touches |= passes_shared(w, function, i);
}

/* ---- what a function gives back ---- */

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

static bool inst_keeps(struct dh_symex *w, uint32_t function, uint32_t inst, uint32_t leaf, uint32_t node)
{
    const struct dh_inst *i = &w->program->insts.at[inst];
    uint32_t first = 1, escaping = UINT32_MAX;
    if (i->op == DH_I_CALL) {
        escaping = 0;
        for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), to;
             dh_call_graph_next(&w->points_to->calls, inst, &it, &to);)
            escaping |= w->state->facts[to].escapes;
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

static bool keeps(struct dh_symex *w, uint32_t function, uint32_t leaf, uint32_t node)
{
    const struct dh_function *f = &w->program->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &w->program->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
            if (inst_keeps(w, function, i, leaf, node))
                return true;
    }
    return false;
}

static bool is_new(struct dh_symex *w, uint32_t function, uint32_t reg)
{
    uint32_t inst = dh_symex_definitions(w, function)[reg];
    if (inst == DH_NONE)
        return false;
    const struct dh_inst *i = &w->program->insts.at[inst];
    if (i->op == DH_I_ALLOC)
        return true;
    bool any = false, all = true;
    for (uint32_t it = dh_call_graph_first(&w->points_to->calls, inst), to;
         i->op == DH_I_CALL && dh_call_graph_next(&w->points_to->calls, inst, &it, &to);) {
        any = true;
        all &= w->state->facts[to].returns_new;
    }
    return any && all;
}

/* Every value it returns is null or an object that it allocated and nobody else has heard of. */
static bool returns_new(struct dh_symex *w, uint32_t function)
{
    const struct dh_value_numbering *x = &w->state->values;
    struct dh_term t = x->returns[function];
    if (!t.expr || !t.exact || t.offset ||
        (x->exprs.at[t.expr].kind != DH_EXPR_OBJECT && x->exprs.at[t.expr].kind != DH_EXPR_REGISTER))
        return false;
    uint32_t reg = x->exprs.at[t.expr].b;
    return is_new(w, function, reg) &&
           !keeps(w, function, t.expr, dh_points_to_value(w->points_to, function, reg).node);
}

static bool function_facts(struct dh_symex *w, uint32_t function)
{
    const struct dh_function *f = &w->program->functions.at[function];
    struct dh_function_summary was = w->state->facts[function], now = was;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_basic_block *block = &w->program->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
            inst_facts(w, function, i, &now);
    }
    if (now.escapes && w->state->has_library)
        now.escapes &= dh_symex_escaping_params(w, function);
    now.returns_new = was.returns_new || returns_new(w, function);
    w->state->facts[function] = now;
    return memcmp(&was, &now, sizeof now) != 0;
}

void dh_symex_summarise_functions(struct dh_symex *w)
{
    const struct dh_call_graph *c = &w->points_to->calls;
    bool moved = true;
    memset(w->state->facts, 0, w->program->functions.n * sizeof *w->state->facts);
    for (int round = 0; moved && round < 40; round++) {
        moved = false;
        for (size_t n = 0; n < w->program->functions.n; n++)
            moved |= function_facts(w, c->order[n]);
    }
    for (uint32_t n = 0; n < w->program->functions.n; n++)
        w->state->facts[n].meets = dh_is_condition_barrier(w, n);
}

/* ---- who accesses what ---- */

static void reach(struct dh_symex *w, uint32_t function, uint8_t *reached)
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
        const struct dh_scc_summary *facts = &s->groups[s->calls.group[f]];
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
    /* Atomics alone do not race, but what they publish without order may. */
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
    uint8_t *reached = malloc(w->program->functions.n + 1);
    if (!reached)
        abort();
    for (size_t t = 0; t < w->threads.n; t++) {
        memset(reached, 0, w->program->functions.n + 1);
        reach(w, w->threads.at[t].function, reached);
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
