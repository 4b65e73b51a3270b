/* Three ways to keep an order among locks of one kind are known:
 *     if (b < a) swap(&a, &b);      both locks are chosen by one comparison, crosswise
 *     if (a->id < b->id) lock(a), lock(b); else ...     the comparison stands before
 *     for (i = 0; ...; i++) lock(&l[i])                 elements one after the other
 * Parameters are looked up at every call of the function, for all of them must agree. */
#include "analysis/lock_pair_order.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { DEEPEST = 8, MOST_CALLERS = 64 };

void dh_lock_pair_order_init(struct dh_lock_pair_order *o, const struct dh_program *p)
{
    *o = (struct dh_lock_pair_order){.program = p, .flow_of = DH_NONE};
}

void dh_lock_pair_order_release(struct dh_lock_pair_order *o)
{
    dh_cfg_release(&o->flow);
    free(o->definition);
}

static void enter(struct dh_lock_pair_order *o, uint32_t function)
{
    const struct dh_program *p = o->program;
    const struct dh_function *f = &p->functions.at[function];
    if (o->flow_of == function)
        return;
    o->flow_of = function;
    dh_cfg_build(&o->flow, p, function);
    free(o->definition);
    o->n_definitions = f->n_registers;
    o->definition = dh_xmalloc((f->n_registers + 1) * sizeof *o->definition);
    for (uint32_t r = 0; r < f->n_registers; r++)
        o->definition[r] = DH_NONE;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++)
            if (p->insts.at[i].result != DH_NONE)
                o->definition[p->insts.at[i].result] = i;
}

static const struct dh_inst *defined(const struct dh_lock_pair_order *o, dh_value v)
{
    if (!dh_is_register(v) || v >= o->n_definitions || o->definition[v] == DH_NONE)
        return NULL;
    return &o->program->insts.at[o->definition[v]];
}

/* Without steps to a member and casts. */
static dh_value object_of(const struct dh_lock_pair_order *o, dh_value v)
{
    const struct dh_inst *i;
    for (int n = 0; n < DEEPEST && (i = defined(o, v)) && (i->op == DH_I_OFFSET || i->op == DH_I_COPY); n++)
        v = dh_operand(o->program, i, 0);
    return v;
}

/* Equal if nothing changed in between: the same computation on the same values. */
static bool same_value(const struct dh_lock_pair_order *o, dh_value a, dh_value b, int depth)
{
    if (a == b)
        return true;
    const struct dh_inst *x = defined(o, a), *y = defined(o, b);
    if (x && x->op == DH_I_COPY)
        return same_value(o, dh_operand(o->program, x, 0), b, depth + 1);
    if (y && y->op == DH_I_COPY)
        return same_value(o, a, dh_operand(o->program, y, 0), depth + 1);
    if (depth > DEEPEST || !x || !y || x->op != y->op || x->n_operands != y->n_operands || x->offset != y->offset ||
        x->size != y->size || x->extra != y->extra || x->op == DH_I_PHI || x->op == DH_I_CALL || x->op == DH_I_SLOT ||
        dh_inst_class(x) == DH_CLASS_HEAP || dh_inst_class(x) == DH_CLASS_CALL)
        return false;
    for (uint32_t k = 0; k < x->n_operands; k++)
        if (!same_value(o, dh_operand(o->program, x, k), dh_operand(o->program, y, k), depth + 1))
            return false;
    return true;
}

/* Whether `v` is computed from `part` (or from what stands in it). */
static bool mentions(const struct dh_lock_pair_order *o, dh_value v, dh_value part, int depth)
{
    if (same_value(o, v, part, 0))
        return true;
    const struct dh_inst *i = defined(o, v);
    if (!i || depth > DEEPEST || i->op == DH_I_PHI)
        return false;
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (mentions(o, dh_operand(o->program, i, k), part, depth + 1))
            return true;
    return false;
}

/* Whether the comparison is about `a` and `b`: 1: true means a is less, -1: true means a is greater. The objects may be
 * chosen by what is compared, or what is compared may stand in them. */
static bool about(const struct dh_lock_pair_order *o, dh_value compared, dh_value object)
{
    return mentions(o, compared, object, 0) || (defined(o, compared) && mentions(o, object, compared, 0)) ||
           (dh_is_register(compared) && mentions(o, object, compared, 0));
}

static int direction(const struct dh_lock_pair_order *o, const struct dh_inst *compare, dh_value a, dh_value b)
{
    dh_value x = dh_operand(o->program, compare, 0), y = dh_operand(o->program, compare, 1);
    int sign = compare->extra == DH_CMP_LT || compare->extra == DH_CMP_LE   ? 1
               : compare->extra == DH_CMP_GT || compare->extra == DH_CMP_GE ? -1
                                                                            : 0;
    if (!sign)
        return 0;
    if (about(o, x, a) && about(o, y, b) && !about(o, x, b))
        return sign;
    return about(o, x, b) && about(o, y, a) && !about(o, x, a) ? -sign : 0;
}

/* ---- chosen crosswise ---- */
static const struct dh_inst *condition_of(const struct dh_lock_pair_order *o, uint32_t block)
{
    const struct dh_basic_block *b = &o->program->blocks.at[o->flow.first + block];
    const struct dh_inst *end = &o->program->insts.at[b->inst + b->n_insts - 1];
    const struct dh_inst *c = end->op == DH_I_BRANCH ? defined(o, dh_operand(o->program, end, 0)) : NULL;
    return c && c->op == DH_I_COMPARE ? c : NULL;
}

/* Which way of the branch at `from` leads to the edge pred -> phi's block: 1 true, -1 false, 0 not told. */
static int way(const struct dh_lock_pair_order *o, uint32_t from, uint32_t pred)
{
    const struct dh_basic_block *b = &o->program->blocks.at[o->flow.first + from];
    uint32_t yes = dh_successors(o->program, b)[0] - o->flow.first,
             no = dh_successors(o->program, b)[1] - o->flow.first;
    if (pred == from)
        return 0;
    if (dh_cfg_dominates(&o->flow, yes, pred) && !dh_cfg_dominates(&o->flow, no, pred))
        return 1;
    return dh_cfg_dominates(&o->flow, no, pred) ? -1 : 0;
}

static dh_value input(const struct dh_lock_pair_order *o, const struct dh_inst *phi, uint32_t pred)
{
    for (uint32_t k = 0; k + 1 < phi->n_operands; k += 2)
        if (dh_operand(o->program, phi, k + 1) == pred)
            return dh_operand(o->program, phi, k);
    return DH_NONE;
}

static int sign_of_choice(const struct dh_lock_pair_order *o, const struct dh_inst *p, const struct dh_inst *q,
                          uint32_t block)
{
    uint32_t from = o->flow.dominator.at[block];
    const struct dh_inst *c = condition_of(o, from);
    if (!c || p->n_operands != 4 || q->n_operands != 4)
        return 0;
    uint32_t one = dh_operand(o->program, p, 1), other = dh_operand(o->program, p, 3);
    dh_value a = object_of(o, dh_operand(o->program, p, 0)), b = object_of(o, dh_operand(o->program, p, 2));
    dh_value qa = input(o, q, one), qb = input(o, q, other);
    if (qa == DH_NONE || qb == DH_NONE || !same_value(o, object_of(o, qa), b, 0) ||
        !same_value(o, object_of(o, qb), a, 0))
        return 0;
    int taken = way(o, from, one) ? way(o, from, one) : -way(o, from, other);
    /* On the way `one` the first lock is a and the second is b. */
    return taken * direction(o, c, a, b);
}

static dh_value without_casts(const struct dh_lock_pair_order *o, dh_value v)
{
    const struct dh_inst *i;
    for (int n = 0; n < DEEPEST && (i = defined(o, v)) && i->op == DH_I_COPY; n++)
        v = dh_operand(o->program, i, 0);
    return v;
}

/* One of two values by a comparison of them: sign 1: the smaller one. */
struct pick {
    dh_value condition, a, b;
    int sign;
};

/* The same by two branches. */
static bool picks_by_branch(const struct dh_lock_pair_order *o, const struct dh_inst *i, struct pick *pick)
{
    uint32_t block = dh_program_block_of(o->program, (uint32_t)(i - o->program->insts.at)) - o->flow.first;
    if (i->n_operands != 4 || o->flow.rank.at[block] == DH_NONE)
        return false;
    uint32_t from = o->flow.dominator.at[block];
    const struct dh_inst *c = condition_of(o, from);
    uint32_t one = dh_operand(o->program, i, 1), other = dh_operand(o->program, i, 3);
    int taken = c ? (way(o, from, one) ? way(o, from, one) : -way(o, from, other)) : 0;
    if (!taken)
        return false;
    pick->condition = c->result;
    pick->a = object_of(o, dh_operand(o->program, i, taken > 0 ? 0 : 2));
    pick->b = object_of(o, dh_operand(o->program, i, taken > 0 ? 2 : 0));
    pick->sign = direction(o, c, pick->a, pick->b);
    return true;
}

static bool picks(const struct dh_lock_pair_order *o, const struct dh_inst *i, struct pick *pick)
{
    if (i->op == DH_I_PHI)
        return picks_by_branch(o, i, pick);
    if (i->op != DH_I_SELECT)
        return false;
    pick->condition = dh_operand(o->program, i, 0);
    const struct dh_inst *c = defined(o, pick->condition);
    if (!c || c->op != DH_I_COMPARE)
        return false;
    pick->a = object_of(o, dh_operand(o->program, i, 1));
    pick->b = object_of(o, dh_operand(o->program, i, 2));
    pick->sign = direction(o, c, pick->a, pick->b);
    return true;
}

/* Both pick from the same two. */
static bool are_all(const struct dh_lock_pair_order *o, const struct pick *x, const struct pick *y)
{
    return (same_value(o, x->a, y->a, 0) && same_value(o, x->b, y->b, 0)) ||
           (same_value(o, x->a, y->b, 0) && same_value(o, x->b, y->a, 0));
}

static int chosen(const struct dh_lock_pair_order *o, dh_value first, dh_value second)
{
    first = without_casts(o, first);
    second = without_casts(o, second);
    const struct dh_inst *p = defined(o, first), *q = defined(o, second);
    if (!p || !q)
        return 0;
    if (p->op == DH_I_PHI && q->op == DH_I_PHI) {
        uint32_t block = dh_program_block_of(o->program, o->definition[first]) - o->flow.first;
        if (block == dh_program_block_of(o->program, o->definition[second]) - o->flow.first)
            return sign_of_choice(o, p, q, block);
    }
    if (p->op == DH_I_INDEX && q->op == DH_I_INDEX && p->size == q->size &&
        same_value(o, dh_operand(o->program, p, 0), dh_operand(o->program, q, 0), 0))
        return chosen(o, dh_operand(o->program, p, 1), dh_operand(o->program, q, 1));
    struct pick one, other;
    if (!picks(o, p, &one) || !picks(o, q, &other))
        return 0;
    if (same_value(o, one.a, other.b, 0) && same_value(o, one.b, other.a, 0) &&
        same_value(o, one.condition, other.condition, 0))
        return one.sign;
    return are_all(o, &one, &other) && one.sign * other.sign < 0 ? one.sign : 0;
}

/* Without looking at memory that somebody may change. */
static bool is_pure(const struct dh_lock_pair_order *o, dh_value v, int depth)
{
    const struct dh_inst *i = defined(o, v);
    if (!i)
        return true;
    if (depth > DEEPEST || dh_inst_class(i) != DH_CLASS_VALUE || i->op == DH_I_PHI || i->op == DH_I_MIX)
        return false;
    for (uint32_t k = 0; k < i->n_operands; k++)
        if (!is_pure(o, dh_operand(o->program, i, k), depth + 1))
            return false;
    return true;
}

static bool crosswise(const struct dh_lock_pair_order *o, dh_value first, dh_value second, dh_value *a, dh_value *b)
{
    const struct dh_program *program = o->program;
    const struct dh_inst *p = defined(o, first), *q = defined(o, second);
    bool phis = p && q && p->op == DH_I_PHI && q->op == DH_I_PHI && p->n_operands == 4 && q->n_operands == 4;
    if (phis &&
        dh_program_block_of(program, o->definition[first]) == dh_program_block_of(program, o->definition[second])) {
        *a = object_of(o, dh_operand(program, p, 0));
        *b = object_of(o, dh_operand(program, p, 2));
        dh_value qa = input(o, q, dh_operand(program, p, 1)), qb = input(o, q, dh_operand(program, p, 3));
        return qa != DH_NONE && qb != DH_NONE && same_value(o, object_of(o, qa), *b, 0) &&
               same_value(o, object_of(o, qb), *a, 0);
    }
    struct pick one, other;
    if (!p || !q || !picks(o, p, &one) || !picks(o, q, &other))
        return false;
    *a = one.a;
    *b = one.b;
    if (!is_pure(o, one.condition, 0) || !is_pure(o, other.condition, 0))
        return one.condition == other.condition && one.a == other.b && one.b == other.a;
    bool alike = same_value(o, one.condition, other.condition, 0);
    return (alike && one.a == other.b && one.b == other.a) ||
           (!alike && are_all(o, &one, &other) && one.sign * other.sign < 0);
}

bool dh_lock_pair_selected(struct dh_lock_pair_order *o, uint32_t first, uint32_t second, dh_value *a, dh_value *b,
                           bool *index)
{
    const struct dh_program *program = o->program;
    uint32_t function = program->blocks.at[dh_program_block_of(program, second)].function;
    if (program->blocks.at[dh_program_block_of(program, first)].function != function)
        return false;
    enter(o, function);
    dh_value x = object_of(o, dh_operand(program, &program->insts.at[first], 0)),
             y = object_of(o, dh_operand(program, &program->insts.at[second], 0));
    const struct dh_inst *p = defined(o, x), *q = defined(o, y);
    *index = p && q && p->op == DH_I_INDEX && q->op == DH_I_INDEX && p->size == q->size &&
             same_value(o, dh_operand(program, p, 0), dh_operand(program, q, 0), 0) &&
             is_pure(o, dh_operand(program, p, 0), 0);
    if (!*index)
        return crosswise(o, x, y, a, b);
    return crosswise(o, without_casts(o, dh_operand(program, p, 1)), without_casts(o, dh_operand(program, q, 1)), a, b);
}

/* ---- compared before ---- */
static int compared(const struct dh_lock_pair_order *o, uint32_t block, dh_value first, dh_value second)
{
    if (o->flow.rank.at[block] == DH_NONE)
        return 0;
    while (block) {
        uint32_t up = o->flow.dominator.at[block];
        const struct dh_inst *c = condition_of(o, up);
        int sign = c ? direction(o, c, first, second) : 0;
        if (sign) {
            int taken = way(o, up, block);
            return taken * sign;
        }
        block = up;
    }
    return 0;
}

/* ---- one after the other ---- */
static int step_of(const struct dh_lock_pair_order *o, dh_value index)
{
    const struct dh_inst *i = defined(o, index);
    while (i && i->op == DH_I_COPY)
        i = defined(o, dh_operand(o->program, i, 0));
    if (!i || i->op != DH_I_PHI)
        return 0;
    for (uint32_t k = 0; k + 1 < i->n_operands; k += 2) {
        const struct dh_inst *next = defined(o, dh_operand(o->program, i, k));
        int64_t by;
        if (!next || next->op != DH_I_BINARY || dh_operand(o->program, next, 0) != i->result ||
            !dh_value_int(o->program, dh_operand(o->program, next, 1), &by) || !by)
            continue;
        bool up = (by > 0) == (next->extra == DH_BIN_ADD);
        return next->extra == DH_BIN_ADD || next->extra == DH_BIN_SUB ? (up ? 1 : -1) : 0;
    }
    return 0;
}

static int walked(const struct dh_lock_pair_order *o, dh_value v)
{
    const struct dh_inst *i = defined(o, object_of(o, v));
    if (i && i->op == DH_I_LOAD)
        i = defined(o, object_of(o, dh_operand(o->program, i, 0)));
    return i && i->op == DH_I_INDEX ? step_of(o, dh_operand(o->program, i, 1)) : 0;
}

/* ---- */
static int order_of(struct dh_lock_pair_order *o, uint32_t block, dh_value first, dh_value second, int depth);

/* Every call must keep the order. */
static int at_calls(struct dh_lock_pair_order *o, uint32_t function, uint32_t a, uint32_t b, int depth)
{
    const struct dh_program *p = o->program;
    int sign = 0;
    uint32_t seen = 0;
    if (depth > 2 || p->functions.at[function].flags & DH_FUNCTION_ADDRESS_TAKEN)
        return 0;
    for (uint32_t i = 0; i < p->insts.n; i++) {
        const struct dh_inst *call = &p->insts.at[i];
        if (call->op != DH_I_CALL || dh_value_function(p, dh_operand(p, call, 0)) != function)
            continue;
        if (++seen > MOST_CALLERS || call->n_operands <= a + 1 || call->n_operands <= b + 1)
            return 0;
        uint32_t block = dh_program_block_of(p, i);
        enter(o, p->blocks.at[block].function);
        int one = order_of(o, block - o->flow.first, dh_operand(p, call, a + 1), dh_operand(p, call, b + 1), depth + 1);
        if (!one || (sign && one != sign))
            return 0;
        sign = one;
    }
    return sign;
}

static int order_of(struct dh_lock_pair_order *o, uint32_t block, dh_value first, dh_value second, int depth)
{
    uint32_t function = o->flow_of;
    dh_value a = object_of(o, first), b = object_of(o, second);
    int sign = chosen(o, a, b);
    if (!sign)
        sign = compared(o, block, a, b);
    uint32_t n = o->program->functions.at[function].n_params;
    if (!sign && dh_is_register(a) && dh_is_register(b) && a < n && b < n)
        sign = at_calls(o, function, a, b, depth);
    return sign;
}

int dh_lock_pair_order(struct dh_lock_pair_order *o, uint32_t first, uint32_t second)
{
    const struct dh_program *p = o->program;
    uint32_t block = dh_program_block_of(p, second), function = p->blocks.at[block].function;
    if (p->blocks.at[dh_program_block_of(p, first)].function != function)
        return 0;
    enter(o, function);
    dh_value a = dh_operand(p, &p->insts.at[first], 0), b = dh_operand(p, &p->insts.at[second], 0);
    return first == second ? walked(o, b) : order_of(o, block - o->flow.first, a, b, 0);
}
