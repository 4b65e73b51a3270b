#include "analysis/atomic_barriers.h"

#include "analysis/symex_internal.h"
#include "base/alloc.h"

enum { MOST = 6 };

/* A release write, or a wait for an atomic, as a term of the function. */
struct op {
    struct dh_term at;
    uint32_t point; /* of the function: the instruction or the call */
    bool counts;    /* a read-modify-write */
};

struct summary {
    uint8_t n_writes, n_waits;
    struct op writes[MOST], waits[MOST];
};

struct finder {
    struct dh_symex *w;
    struct summary *of; /* by function */
};

static void add_operation(struct op *all, uint8_t *n, struct op d)
{
    if (*n < MOST && d.at.expr)
        all[(*n)++] = d;
}

/* Operations of the only callee. */
static void add_call(struct finder *f, uint32_t function, uint32_t inst, struct summary *mine)
{
    const struct dh_call_graph *c = &f->w->points_to->calls;
    const struct dh_inst *i = &f->w->program->insts.at[inst];
    struct dh_value_numbering *x = &f->w->state->values;
    uint32_t only = DH_NONE, n = 0;
    for (uint32_t it = dh_call_graph_first(c, inst), to; dh_call_graph_next(c, inst, &it, &to); n++)
        only = to;
    if (n != 1 || only == function)
        return;
    const struct summary *theirs = &f->of[only];
    for (unsigned k = 0; k < theirs->n_writes; k++) {
        struct dh_term at = dh_term_to_caller(x, theirs->writes[k].at, function, i, 1);
        add_operation(mine->writes, &mine->n_writes, (struct op){at, inst, theirs->writes[k].counts});
    }
    for (unsigned k = 0; k < theirs->n_waits; k++)
        add_operation(mine->waits, &mine->n_waits,
                      (struct op){dh_term_to_caller(x, theirs->waits[k].at, function, i, 1), inst, false});
}

/* A loop that is left when a load finds what it waits for. */
static void add_wait(struct finder *f, uint32_t function, uint32_t inst, struct summary *mine)
{
    const struct dh_program *p = f->w->program;
    const struct dh_cfg *flow = dh_symex_cfg(f->w, function);
    uint32_t block = dh_program_block_of(p, inst), loop = flow->loop.at[block - flow->first];
    const struct dh_branch_tests *sides =
        loop == DH_NONE ? NULL : dh_atomic_tests_of_branch(&f->w->state->atomics.looks, function, inst);
    const uint32_t *to = dh_successors(p, &p->blocks.at[block]);
    if (!sides || dh_cfg_in_loop(flow, loop, to[0] - flow->first) == dh_cfg_in_loop(flow, loop, to[1] - flow->first))
        return;
    /* Staying in the loop means that the test failed; leaving it may have another reason. */
    unsigned side = sides->n[0] ? 0 : 1;
    for (unsigned n = 0; n < sides->n[side]; n++) {
        const struct dh_atomic_test *l = &sides->at[side][n];
        bool here =
            l->function != function || dh_cfg_in_loop(flow, loop, dh_program_block_of(p, l->inst) - flow->first);
        if (here && l->acquires && p->insts.at[l->inst].op == DH_I_LOAD)
            add_operation(mine->waits, &mine->n_waits, (struct op){l->at, inst, false});
    }
}

static void add_write(struct finder *f, uint32_t function, uint32_t inst, struct summary *mine)
{
    const struct dh_inst *i = &f->w->program->insts.at[inst];
    if (!i->order || !dh_atomic_releases(f->w, function, inst))
        return;
    struct dh_term at = dh_value_term(&f->w->state->values, function, dh_operand(f->w->program, i, 0));
    add_operation(mine->writes, &mine->n_writes, (struct op){at, inst, i->op == DH_I_RMW});
}

static void summarise(struct finder *f, uint32_t function)
{
    const struct dh_program *p = f->w->program;
    const struct dh_function *fn = &p->functions.at[function];
    struct summary *mine = &f->of[function];
    for (uint32_t b = fn->block; b < fn->block + fn->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++) {
            uint8_t op = p->insts.at[i].op;
            if (op == DH_I_CALL)
                add_call(f, function, i, mine);
            else if (op == DH_I_BRANCH)
                add_wait(f, function, i, mine);
            else if (op == DH_I_STORE || op == DH_I_RMW)
                add_write(f, function, i, mine);
        }
}

/* ---- is it a barrier? ---- */

static struct dh_heap_cell cell_of(struct finder *f, uint32_t function, struct dh_term t)
{
    return dh_points_to_fold_cell(f->w->points_to, dh_symex_term_cell(f->w, function, t));
}

static bool same_cell(struct finder *f, uint32_t function, struct dh_term a, struct dh_term b)
{
    struct dh_heap_cell x = cell_of(f, function, a), y = cell_of(f, function, b);
    return x.node != DH_NO_NODE && x.node == y.node && x.offset == y.offset;
}

/* On every path through the function, and before the wait. */
static bool comes_first(struct finder *f, uint32_t function, const struct op *write, const struct op *wait)
{
    const struct dh_program *p = f->w->program;
    const struct dh_cfg *flow = dh_symex_cfg(f->w, function);
    uint32_t a = dh_program_block_of(p, write->point) - flow->first,
             b = dh_program_block_of(p, wait->point) - flow->first;
    for (uint32_t n = 0; n < flow->n; n++) {
        const struct dh_basic_block *end = &p->blocks.at[flow->first + n];
        if (p->insts.at[end->inst + end->n_insts - 1].op == DH_I_RETURN && flow->rank.at[n] != DH_NONE &&
            !dh_cfg_dominates(flow, a, n))
            return false;
    }
    return a == b ? write->point < wait->point : dh_cfg_dominates(flow, a, b);
}

static bool is_element(const struct finder *f, struct dh_term t)
{
    const struct dh_value_numbering *x = &f->w->state->values;
    uint32_t at = t.expr;
    return x->exprs.at[at].kind == DH_EXPR_INDEX;
}

static bool is_arrival(struct finder *f, uint32_t function, const struct op *write, const struct op *wait)
{
    const struct summary *s = &f->of[function];
    if (!comes_first(f, function, write, wait))
        return false;
    bool one = same_cell(f, function, write->at, wait->at);
    if (!write->counts) /* each thread writes an element of its own and waits for others */
        return one && is_element(f, write->at) && write->at.expr != wait->at.expr;
    for (unsigned n = 0; n < s->n_writes && !one; n++) /* the last thread to count releases all */
        one = &s->writes[n] != write && same_cell(f, function, s->writes[n].at, wait->at);
    return one;
}

static bool is_barrier(struct finder *f, uint32_t function)
{
    const struct summary *s = &f->of[function];
    for (unsigned n = 0; n < s->n_writes; n++)
        for (unsigned k = 0; k < s->n_waits; k++)
            if (is_arrival(f, function, &s->writes[n], &s->waits[k]))
                return true;
    return false;
}

uint8_t *dh_atomic_barriers_find(struct dh_symex *w)
{
    struct finder f = {.w = w};
    size_t n = w->program->functions.n;
    uint8_t *found = dh_xcalloc(n + 1, 1);
    f.of = dh_xcalloc(n + 1, sizeof *f.of);
    for (size_t k = 0; k < n && !w->strict; k++) {
        uint32_t function = w->points_to->calls.order[k];
        if (!w->program->functions.at[function].n_blocks)
            continue;
        summarise(&f, function);
        found[function] = is_barrier(&f, function);
        if (found[function])
            f.of[function] = (struct summary){0}; /* callers get the phase instead */
    }
    free(f.of);
    return found;
}
