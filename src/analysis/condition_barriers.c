#include "analysis/condition_barriers.h"

struct barrier {
    struct dh_symex *w;
    uint32_t function;
    const struct dh_cfg *flow;
};

static const struct dh_inst *defined(const struct barrier *m, dh_value v)
{
    if (!dh_is_register(v))
        return NULL;
    uint32_t inst = dh_symex_definitions(m->w, m->function)[v];
    return inst != DH_NONE ? &m->w->program->insts.at[inst] : NULL;
}

static bool same_place(const struct barrier *m, dh_value a, dh_value b)
{
    struct dh_value_numbering *x = &m->w->state->values;
    struct dh_term s = dh_value_term(x, m->function, a), t = dh_value_term(x, m->function, b);
    return s.expr && t.expr && s.offset == t.offset && dh_expr_canonical(x, s.expr) == dh_expr_canonical(x, t.expr);
}

/* One more or one less than the old value. */
static bool is_next_count(const struct barrier *m, dh_value v, dh_value place)
{
    const struct dh_program *p = m->w->program;
    const struct dh_inst *i = defined(m, v);
    if (!i || i->op != DH_I_BINARY || (i->extra != DH_BIN_ADD && i->extra != DH_BIN_SUB))
        return false;
    const struct dh_inst *old = defined(m, dh_operand(p, i, 0));
    return old && old->op == DH_I_LOAD && same_place(m, dh_operand(p, old, 0), place);
}

/* The value comes from a counter of the function: its new value, its old one, or loaded again. */
static bool is_count(const struct barrier *m, dh_value v)
{
    const struct dh_program *p = m->w->program;
    const struct dh_function *f = &p->functions.at[m->function];
    const struct dh_inst *i = defined(m, v);
    while (i && i->op == DH_I_COPY)
        i = defined(m, dh_operand(p, i, 0));
    if (!i || (i->op != DH_I_LOAD && i->op != DH_I_BINARY))
        return false;
    const struct dh_inst *from = i->op == DH_I_LOAD ? i : defined(m, dh_operand(p, i, 0));
    if (!from || from->op != DH_I_LOAD)
        return false;
    const struct dh_basic_block *last = &p->blocks.at[f->block + f->n_blocks - 1];
    for (uint32_t n = p->blocks.at[f->block].inst; n < last->inst + last->n_insts; n++) {
        const struct dh_inst *store = &p->insts.at[n];
        if (store->op == DH_I_STORE && same_place(m, dh_operand(p, store, 0), dh_operand(p, from, 0)) &&
            is_next_count(m, dh_operand(p, store, 1), dh_operand(p, store, 0)))
            return true;
    }
    return false;
}

static bool broadcasts(const struct barrier *m, uint32_t inst)
{
    return m->w->program->insts.at[inst].op == DH_I_BROADCAST;
}

static bool waits(const struct barrier *m, uint32_t inst)
{
    const struct dh_inst *i = &m->w->program->insts.at[inst];
    const struct dh_call_graph *calls = &m->w->points_to->calls;
    bool yes = i->op == DH_I_WAIT && !(i->flags & DH_INST_TIMED);
    for (uint32_t it = dh_call_graph_first(calls, inst), to;
         i->op == DH_I_CALL && dh_call_graph_next(calls, inst, &it, &to);)
        yes |= m->w->state->summaries[to].waits;
    return yes;
}

/* Some block that only this side of the branch leads to does it. */
static bool side_does(const struct barrier *m, uint32_t side, bool (*what)(const struct barrier *, uint32_t))
{
    const struct dh_program *p = m->w->program;
    if (p->blocks.at[m->flow->first + side].n_preds != 1)
        return false;
    for (uint32_t b = 0; b < m->flow->n; b++) {
        const struct dh_basic_block *block = &p->blocks.at[m->flow->first + b];
        for (uint32_t n = block->inst; dh_cfg_dominates(m->flow, side, b) && n < block->inst + block->n_insts; n++)
            if (what(m, n))
                return true;
    }
    return false;
}

static bool is_decided_by_count(const struct barrier *m, const struct dh_inst *branch)
{
    const struct dh_program *p = m->w->program;
    const struct dh_inst *c = defined(m, dh_operand(p, branch, 0));
    return c && c->op == DH_I_COMPARE && (is_count(m, dh_operand(p, c, 0)) || is_count(m, dh_operand(p, c, 1)));
}

bool dh_is_condition_barrier(struct dh_symex *w, uint32_t function)
{
    const struct dh_program *p = w->program;
    struct barrier m = {w, function, NULL};
    if (!w->state->summaries[function].waits || !w->state->summaries[function].sync)
        return false;
    m.flow = dh_symex_cfg(w, function);
    for (uint32_t b = 0; b < m.flow->n; b++) {
        const struct dh_basic_block *block = &p->blocks.at[m.flow->first + b];
        const struct dh_inst *end = &p->insts.at[block->inst + block->n_insts - 1];
        if (end->op != DH_I_BRANCH || m.flow->rank.at[b] == DH_NONE)
            continue;
        uint32_t yes = dh_successors(p, block)[0] - m.flow->first, no = dh_successors(p, block)[1] - m.flow->first;
        bool apart = (side_does(&m, yes, broadcasts) && side_does(&m, no, waits)) ||
                     (side_does(&m, no, broadcasts) && side_does(&m, yes, waits));
        if (apart && is_decided_by_count(&m, end))
            return true;
    }
    return false;
}
