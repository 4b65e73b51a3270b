#include "analysis/join_loops.h"

#include "base/alloc.h"

#include <stdlib.h>

/* A start or join of a thread, in terms of a function that contains it or calls it. */
struct op {
    uint32_t create;       /* instruction; joins: DH_NONE */
    uint32_t inst;         /* in this function: the operation or the call that leads to it */
    uint32_t block;        /* number in the function */
    bool single;           /* start: reached by one chain of calls only; join: on every path through the function */
    struct dh_term handle; /* address of the handle */
};

struct ops {
    DH_VEC(struct op) starts, joins;
};

struct search {
    struct dh_joins *j;
    struct dh_value_numbering *x;
    const struct dh_program *p;
    struct ops *of;    /* by function */
    uint32_t *callers; /* by function: call sites; address taken counts as many */
    struct dh_cfg flow;
    uint32_t function;
};

/* ---- counting ---- */

static const struct dh_inst *definition(const struct dh_program *p, uint32_t function, uint32_t reg, uint32_t *block)
{
    const struct dh_function *f = &p->functions.at[function];
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++)
            if (p->insts.at[i].result == reg) {
                *block = b - f->block;
                return &p->insts.at[i];
            }
    return NULL;
}

struct count {
    uint32_t header;
    int64_t first, step;
};

static bool step_of(const struct dh_program *p, uint32_t function, dh_value v, uint32_t phi, int64_t *step)
{
    uint32_t block;
    const struct dh_inst *i;
    while (dh_is_register(v) && (i = definition(p, function, v, &block)) && i->op == DH_I_COPY)
        v = dh_operand(p, i, 0);
    if (!dh_is_register(v) || !(i = definition(p, function, v, &block)) || i->op != DH_I_BINARY ||
        i->extra != DH_BIN_ADD)
        return false;
    dh_value a = dh_operand(p, i, 0), b = dh_operand(p, i, 1);
    while (dh_is_register(a) && a != phi && (i = definition(p, function, a, &block)) && i->op == DH_I_COPY)
        a = dh_operand(p, i, 0);
    return a == phi && dh_value_int(p, b, step) && *step != 0;
}

/* A phi at a loop's head: a constant from outside, itself and a constant from inside. */
static bool read_count(const struct dh_program *p, const struct dh_cfg *flow, uint32_t function, uint32_t reg,
                       struct count *c)
{
    uint32_t block;
    const struct dh_inst *i = definition(p, function, reg, &block);
    bool first = false, step = false;
    while (i && i->op == DH_I_COPY && dh_is_register(dh_operand(p, i, 0)))
        i = definition(p, function, reg = dh_operand(p, i, 0), &block);
    if (!i || i->op != DH_I_PHI || flow->loop.at[block] != block)
        return false;
    for (uint32_t n = 0; n + 1 < i->n_operands; n += 2) {
        dh_value v = dh_operand(p, i, n);
        uint32_t from = dh_operand(p, i, n + 1);
        int64_t number;
        if (dh_cfg_in_loop(flow, block, from)) {
            if (!step_of(p, function, v, reg, &number) || (step && number != c->step))
                return false;
            c->step = number;
            step = true;
        } else {
            if (!dh_value_int(p, v, &number) || (first && number != c->first))
                return false;
            c->first = number;
            first = true;
        }
    }
    c->header = block;
    return first && step;
}

bool dh_is_loop_counter(const struct dh_program *p, const struct dh_cfg *flow, uint32_t function, uint32_t reg,
                        uint32_t *header)
{
    struct count c;
    if (!read_count(p, flow, function, reg, &c))
        return false;
    *header = c.header;
    return true;
}

/* ---- the loop around an index ---- */

struct range {
    struct count count;
    uint32_t compare, bound; /* test at the loop's head: count `compare` bound, canonical expression */
    int64_t bound_offset;
};

static bool read_range(struct search *s, uint32_t reg, struct range *r)
{
    const struct dh_program *p = s->p;
    if (!read_count(p, &s->flow, s->function, reg, &r->count))
        return false;
    const struct dh_basic_block *b = &p->blocks.at[s->flow.first + r->count.header];
    const struct dh_inst *end = &p->insts.at[b->inst + b->n_insts - 1], *test;
    uint32_t block;
    if (end->op != DH_I_BRANCH || !dh_is_register(dh_operand(p, end, 0)))
        return false;
    test = definition(p, s->function, dh_operand(p, end, 0), &block);
    if (!test || test->op != DH_I_COMPARE || block != r->count.header)
        return false;
    struct dh_term left = dh_value_term(s->x, s->function, dh_operand(p, test, 0));
    struct dh_term right = dh_value_term(s->x, s->function, dh_operand(p, test, 1));
    const struct dh_expr *e = &s->x->exprs.at[left.expr];
    if (e->kind != DH_EXPR_REGISTER || left.offset || !right.expr || !right.exact)
        return false;
    struct count tested;
    if (!read_count(p, &s->flow, s->function, e->b, &tested) || tested.header != r->count.header)
        return false;
    r->compare = test->extra;
    r->bound = dh_expr_canonical(s->x, right.expr);
    r->bound_offset = right.offset;
    return true;
}

static bool same_range(const struct range *a, const struct range *b)
{
    return a->count.first == b->count.first && a->count.step == b->count.step && a->compare == b->compare &&
           a->bound == b->bound && a->bound_offset == b->bound_offset;
}

/* ---- what a function does with threads ---- */

static void note_inst(struct search *s, uint32_t inst, uint32_t block)
{
    const struct dh_inst *i = &s->p->insts.at[inst];
    struct ops *mine = &s->of[s->function];
    if (i->op == DH_I_CREATE) {
        struct dh_term handle = dh_value_term(s->x, s->function, dh_operand(s->p, i, 0));
        dh_vec_push(&mine->starts, (struct op){inst, inst, block, true, handle});
    } else if (i->op == DH_I_JOIN && !(i->flags & DH_INST_TIMED)) {
        struct dh_term value = dh_value_term(s->x, s->function, dh_operand(s->p, i, 0));
        struct dh_expr e = s->x->exprs.at[value.expr];
        if (e.kind == DH_EXPR_LOAD && value.exact && !value.offset)
            dh_vec_push(&mine->joins,
                        (struct op){DH_NONE, inst, block, true, {.expr = e.a, .exact = true, .offset = e.offset}});
    }
}

static void note_call(struct search *s, const struct dh_inst *i, uint32_t block)
{
    uint32_t callee = dh_value_function(s->p, dh_operand(s->p, i, 0));
    if (callee == DH_NONE || callee == s->function)
        return;
    struct ops *mine = &s->of[s->function];
    for (size_t n = 0; n < s->of[callee].starts.n; n++) {
        struct op d = s->of[callee].starts.at[n];
        d.block = block;
        d.inst = (uint32_t)(i - s->p->insts.at);
        d.single &= s->callers[callee] == 1;
        d.handle = dh_term_to_caller(s->x, d.handle, s->function, i, 1);
        dh_vec_push(&mine->starts, d);
    }
    for (size_t n = 0; n < s->of[callee].joins.n; n++) {
        struct op d = s->of[callee].joins.at[n];
        if (!d.single) /* not on every path through the callee */
            continue;
        d.block = block;
        d.inst = (uint32_t)(i - s->p->insts.at);
        d.handle = dh_term_to_caller(s->x, d.handle, s->function, i, 1);
        dh_vec_push(&mine->joins, d);
    }
}

/* In every iteration: no path around the block to the loop's header. */
static bool each_round(const struct search *s, uint32_t header, uint32_t block)
{
    const struct dh_basic_block *b = &s->p->blocks.at[s->flow.first + header];
    for (uint32_t n = 0; n < b->n_preds; n++) {
        uint32_t from = dh_predecessors(s->p, b)[n] - s->flow.first;
        if (dh_cfg_in_loop(&s->flow, header, from) && !dh_cfg_dominates(&s->flow, block, from))
            return false;
    }
    return true;
}

static bool element(const struct search *s, struct dh_term t, struct dh_expr *e)
{
    if (!t.expr || !t.exact)
        return false;
    *e = s->x->exprs.at[t.expr];
    return e->kind == DH_EXPR_INDEX && s->x->exprs.at[e->b].kind == DH_EXPR_REGISTER &&
           s->x->exprs.at[e->b].a == s->function;
}

/* A path from `from` to a return that avoids `barrier`. Ends of the process do not count. */
static bool returns_past(const struct search *s, uint32_t from, uint32_t barrier)
{
    DH_VEC(uint32_t) todo = {0};
    uint8_t *seen = dh_xcalloc(s->flow.n, 1);
    bool out = false;
    dh_vec_push(&todo, from);
    while (todo.n && !out) {
        uint32_t at = todo.at[--todo.n];
        if (seen[at] || at == barrier)
            continue;
        seen[at] = 1;
        const struct dh_basic_block *b = &s->p->blocks.at[s->flow.first + at];
        uint8_t end = s->p->insts.at[b->inst + b->n_insts - 1].op;
        out = end == DH_I_RETURN || end == DH_I_THROW;
        for (uint32_t n = 0; n < b->n_succs; n++)
            dh_vec_push(&todo, dh_successors(s->p, b)[n] - s->flow.first);
    }
    free(seen);
    dh_vec_release(&todo);
    return out;
}

/* A path of at least one edge from one block to the other that avoids `barrier`. */
static bool leads_to(const struct search *s, uint32_t from, uint32_t to, uint32_t barrier)
{
    DH_VEC(uint32_t) todo = {0};
    uint8_t *seen = dh_xcalloc(s->flow.n, 1);
    dh_vec_push(&todo, from);
    while (todo.n && !seen[to]) {
        const struct dh_basic_block *b = &s->p->blocks.at[s->flow.first + todo.at[--todo.n]];
        for (uint32_t n = 0; n < b->n_succs; n++) {
            uint32_t next = dh_successors(s->p, b)[n] - s->flow.first;
            if (seen[next] || next == barrier)
                continue;
            seen[next] = 1;
            dh_vec_push(&todo, next);
        }
    }
    bool found = seen[to];
    free(seen);
    dh_vec_release(&todo);
    return found;
}

static bool comes_after(const struct search *s, const struct op *a, const struct op *b, uint32_t barrier)
{
    return (a->block == b->block && a->inst < b->inst) || leads_to(s, a->block, b->block, barrier);
}

/* The variable, or the array, that a handle lies in. */
static uint32_t home_of(struct search *s, struct dh_term handle)
{
    uint32_t e = handle.expr;
    while (e && s->x->exprs.at[e].kind == DH_EXPR_INDEX)
        e = s->x->exprs.at[e].a;
    return dh_expr_canonical(s->x, e);
}

static bool share_place(struct search *s, const struct op *a, const struct op *b)
{
    bool elements = home_of(s, a->handle) != dh_expr_canonical(s->x, a->handle.expr) ||
                    home_of(s, b->handle) != dh_expr_canonical(s->x, b->handle.expr);
    return home_of(s, a->handle) == home_of(s, b->handle) && (elements || a->handle.offset == b->handle.offset);
}

/* Another thread's handle overwrites this one's before the join: that one is joined, this one runs on. `round`: header
 * of the loop that starts it, each iteration with an element of its own. */
static bool is_overwritten(struct search *s, const struct op *start, const struct op *join, uint32_t round)
{
    const struct ops *mine = &s->of[s->function];
    for (size_t n = 0; n < mine->starts.n; n++) {
        const struct op *other = &mine->starts.at[n];
        bool same_round = round != DH_NONE && s->flow.loop.at[other->block] == round;
        if (other->inst != start->inst && share_place(s, start, other) &&
            comes_after(s, start, other, same_round ? round : DH_NONE) && comes_after(s, other, join, DH_NONE))
            return true;
    }
    return false;
}

/* One thread, one handle: started and joined once in each activation of the function. */
static void match_single(struct search *s, const struct op *start, const struct op *join)
{
    const struct dh_term *a = &start->handle, *b = &join->handle;
    if (!start->single || !a->expr || !b->expr || !a->exact || !b->exact || a->offset != b->offset ||
        dh_expr_canonical(s->x, a->expr) != dh_expr_canonical(s->x, b->expr))
        return;
    if (s->flow.loop.at[start->block] != DH_NONE || s->flow.loop.at[join->block] != DH_NONE ||
        !dh_cfg_dominates(&s->flow, start->block, join->block) || is_overwritten(s, start, join, DH_NONE))
        return;
    dh_vec_push(&s->j->points, (struct dh_joined_point){.function = s->function,
                                                        .inst = join->inst,
                                                        .create = start->create,
                                                        .handle = dh_expr_canonical(s->x, a->expr),
                                                        .contained = !returns_past(s, start->block, join->block)});
}

static void match(struct search *s, const struct op *start, const struct op *join)
{
    struct dh_expr a, b;
    struct range ra, rb;
    match_single(s, start, join);
    if (!start->single || !element(s, start->handle, &a) || !element(s, join->handle, &b))
        return;
    if (dh_expr_stride(&a) != dh_expr_stride(&b) || a.offset + start->handle.offset != b.offset + join->handle.offset ||
        dh_expr_canonical(s->x, a.a) != dh_expr_canonical(s->x, b.a))
        return;
    if (!read_range(s, s->x->exprs.at[a.b].b, &ra) || !read_range(s, s->x->exprs.at[b.b].b, &rb) ||
        !same_range(&ra, &rb))
        return;
    uint32_t ha = ra.count.header, hb = rb.count.header;
    if (ha == hb || s->flow.loop.at[start->block] != ha || s->flow.loop.at[join->block] != hb ||
        s->flow.outer.at[ha] != s->flow.outer.at[hb] || !dh_cfg_dominates(&s->flow, ha, hb) ||
        !each_round(s, hb, join->block) || is_overwritten(s, start, join, ha))
        return;
    dh_vec_push(&s->j->loops, (struct dh_joined_loop){.function = s->function,
                                                      .header = hb,
                                                      .create = start->create,
                                                      .start = ha,
                                                      .contained = !returns_past(s, ha, hb),
                                                      .bound = ra.bound});
}

static void do_function(struct search *s, uint32_t function)
{
    const struct dh_function *f = &s->p->functions.at[function];
    struct ops *mine = &s->of[function];
    s->function = function;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = s->p->blocks.at[b].inst; i < s->p->blocks.at[b].inst + s->p->blocks.at[b].n_insts; i++) {
            if (s->p->insts.at[i].op == DH_I_CALL)
                note_call(s, &s->p->insts.at[i], b - f->block);
            else
                note_inst(s, i, b - f->block);
        }
    if (!mine->starts.n && !mine->joins.n)
        return;
    dh_cfg_build(&s->flow, s->p, function);
    for (size_t a = 0; a < mine->starts.n; a++)
        for (size_t b = 0; b < mine->joins.n; b++)
            match(s, &mine->starts.at[a], &mine->joins.at[b]);
    for (size_t b = 0; b < mine->joins.n; b++)
        mine->joins.at[b].single =
            !returns_past(s, 0, mine->joins.at[b].block) && s->flow.loop.at[mine->joins.at[b].block] == DH_NONE;
}

static void count_callers(struct search *s)
{
    for (size_t i = 0; i < s->p->insts.n; i++) {
        const struct dh_inst *inst = &s->p->insts.at[i];
        uint32_t callee = inst->op == DH_I_CALL ? dh_value_function(s->p, dh_operand(s->p, inst, 0)) : DH_NONE;
        if (callee != DH_NONE)
            s->callers[callee]++;
    }
    for (size_t f = 0; f < s->p->functions.n; f++)
        if (s->p->functions.at[f].flags & DH_FUNCTION_ADDRESS_TAKEN)
            s->callers[f] += 2;
}

void dh_joins_find(struct dh_joins *j, struct dh_value_numbering *x, const uint32_t *order)
{
    struct search s = {.j = j, .x = x, .p = x->program};
    j->loops.n = j->points.n = 0;
    s.of = dh_xcalloc(s.p->functions.n, sizeof *s.of);
    s.callers = dh_xcalloc(s.p->functions.n, sizeof *s.callers);
    count_callers(&s);
    for (size_t n = 0; n < s.p->functions.n; n++)
        do_function(&s, order[n]);
    for (size_t n = 0; n < s.p->functions.n; n++) {
        dh_vec_release(&s.of[n].starts);
        dh_vec_release(&s.of[n].joins);
    }
    free(s.of);
    free(s.callers);
    dh_cfg_release(&s.flow);
}

void dh_joins_release(struct dh_joins *j)
{
    dh_vec_release(&j->loops);
    dh_vec_release(&j->points);
}

bool dh_joins_contained(const struct dh_joins *j, uint32_t function, uint32_t header)
{
    for (size_t n = 0; n < j->loops.n; n++)
        if (j->loops.at[n].function == function && j->loops.at[n].start == header && j->loops.at[n].contained)
            return true;
    return false;
}
