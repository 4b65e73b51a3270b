#include "analysis/atomic_tests.h"

#include "analysis/symex_internal.h"
#include "base/alloc.h"

enum { DEEPEST = 40, CALLS_DEEP = 4 };

/* ---- comparisons ---- */

enum dh_compare dh_compare_negate(enum dh_compare c)
{
    static const enum dh_compare of[] = {
        [DH_CMP_EQ] = DH_CMP_NE, [DH_CMP_NE] = DH_CMP_EQ, [DH_CMP_LT] = DH_CMP_GE,      [DH_CMP_LE] = DH_CMP_GT,
        [DH_CMP_GT] = DH_CMP_LE, [DH_CMP_GE] = DH_CMP_LT, [DH_CMP_OTHER] = DH_CMP_OTHER};
    return of[c];
}

enum dh_compare dh_compare_mirror(enum dh_compare c)
{
    static const enum dh_compare of[] = {
        [DH_CMP_EQ] = DH_CMP_EQ, [DH_CMP_NE] = DH_CMP_NE, [DH_CMP_LT] = DH_CMP_GT,      [DH_CMP_LE] = DH_CMP_GE,
        [DH_CMP_GT] = DH_CMP_LT, [DH_CMP_GE] = DH_CMP_LE, [DH_CMP_OTHER] = DH_CMP_OTHER};
    return of[c];
}

bool dh_compare_holds(int64_t value, enum dh_compare relation, int64_t number)
{
    switch (relation) {
    case DH_CMP_EQ:
        return value == number;
    case DH_CMP_NE:
        return value != number;
    case DH_CMP_LT:
        return value < number;
    case DH_CMP_LE:
        return value <= number;
    case DH_CMP_GT:
        return value > number;
    case DH_CMP_GE:
        return value >= number;
    default:
        return true;
    }
}

bool dh_value_test_holds(const struct dh_value_test *t, int64_t value)
{
    return !t->known || dh_compare_holds(value, t->relation, t->number);
}

/* Whether the test says that a condition is true; false: it says nothing of that kind. */
static bool is_truth_test(const struct dh_value_test *t, bool *truth)
{
    if (!t->known || (t->relation != DH_CMP_EQ && t->relation != DH_CMP_NE) || (t->number != 0 && t->number != 1))
        return false;
    *truth = (t->relation == DH_CMP_EQ) == (t->number == 1);
    return true;
}

/* ---- following a condition back ---- */

struct trace {
    struct dh_symex *w;
    unsigned steps, n;
    struct dh_atomic_test found[DH_ATOMIC_TESTS_MAX];
};

/* The function of a value: entered by calls from the branch's own. */
struct frame_at {
    uint32_t function;
    unsigned deep; /* calls */
};

struct wanted {
    struct dh_value_test test;
    dh_value other;
    uint32_t other_in;
};

static bool follow(struct trace *t, struct frame_at at, dh_value v, struct wanted wanted);

uint32_t dh_value_definition(struct dh_symex *w, uint32_t function, dh_value v)
{
    const struct dh_program *p = w->program;
    const uint32_t *defined = dh_symex_definitions(w, function);
    while (dh_is_register(v) && defined[v] != DH_NONE && p->insts.at[defined[v]].op == DH_I_COPY)
        v = dh_operand(p, &p->insts.at[defined[v]], 0);
    return dh_is_register(v) ? defined[v] : DH_NONE;
}

static bool is_acquiring(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static bool is_releasing(unsigned order)
{
    return order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

/* A fence after a relaxed load does as well. */
static bool acquires(struct dh_symex *w, uint32_t inst)
{
    const struct dh_program *p = w->program;
    const struct dh_basic_block *b = &p->blocks.at[dh_program_block_of(p, inst)];
    if (is_acquiring(p->insts.at[inst].order))
        return true;
    for (uint32_t i = inst + 1; i < b->inst + b->n_insts; i++)
        if (p->insts.at[i].op == DH_I_FENCE && is_acquiring(p->insts.at[i].order))
            return true;
    return false;
}

bool dh_atomic_releases(struct dh_symex *w, uint32_t function, uint32_t inst)
{
    const struct dh_program *p = w->program;
    if (is_releasing(p->insts.at[inst].order))
        return true;
    const struct dh_cfg *flow = dh_symex_cfg(w, function);
    uint32_t mine = dh_program_block_of(p, inst) - flow->first;
    for (uint32_t b = 0; b < flow->n; b++) {
        const struct dh_basic_block *block = &p->blocks.at[flow->first + b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++)
            if (p->insts.at[i].op == DH_I_FENCE && is_releasing(p->insts.at[i].order) &&
                (b == mine ? i < inst : dh_cfg_dominates(flow, b, mine)))
                return true;
    }
    return false;
}

static bool note(struct trace *t, struct frame_at at, uint32_t inst, struct wanted wanted, bool done)
{
    const struct dh_program *p = t->w->program;
    struct dh_atomic_test l = {
        .inst = inst,
        .function = at.function,
        .at = dh_value_term(&t->w->state->values, at.function, dh_operand(p, &p->insts.at[inst], 0)),
        .test = wanted.test,
        .other = wanted.other,
        .in_one = wanted.other_in == at.function,
        .done = done,
        .acquires = acquires(t->w, inst)};
    if (t->n == DH_ATOMIC_TESTS_MAX)
        return false;
    t->found[t->n++] = l;
    return true;
}

static bool follow_compare(struct trace *t, struct frame_at at, const struct dh_inst *i, struct wanted wanted)
{
    const struct dh_program *p = t->w->program;
    dh_value a = dh_operand(p, i, 0), b = dh_operand(p, i, 1);
    int64_t number;
    bool truth;
    if (!is_truth_test(&wanted.test, &truth))
        return false;
    enum dh_compare how = truth ? i->extra : dh_compare_negate(i->extra);
    if (dh_value_int(p, b, &number))
        return follow(t, at, a, (struct wanted){{(uint8_t)how, true, number}, b, at.function});
    if (dh_value_int(p, a, &number))
        return follow(t, at, b, (struct wanted){{(uint8_t)dh_compare_mirror(how), true, number}, a, at.function});
    bool one = follow(t, at, a, (struct wanted){{(uint8_t)how, false, 0}, b, at.function});
    bool other = follow(t, at, b, (struct wanted){{(uint8_t)dh_compare_mirror(how), false, 0}, a, at.function});
    return one || other;
}

static bool follow_binary(struct trace *t, struct frame_at at, const struct dh_inst *i, struct wanted wanted)
{
    const struct dh_program *p = t->w->program;
    dh_value a = dh_operand(p, i, 0), b = dh_operand(p, i, 1);
    int64_t number;
    bool truth;
    if (!dh_value_int(p, b, &number)) {
        wanted.test.known = false;
        bool one = follow(t, at, a, wanted), other = follow(t, at, b, wanted);
        return one || other;
    }
    if (i->extra == DH_BIN_XOR && is_truth_test(&wanted.test, &truth) && (number == 1 || number == -1))
        wanted.test = (struct dh_value_test){DH_CMP_NE, true, truth ? 1 : 0};
    else if (i->extra == DH_BIN_ADD)
        wanted.test.number -= number;
    else if (i->extra == DH_BIN_SUB)
        wanted.test.number += number;
    else if (i->extra != DH_BIN_AND || !wanted.test.known || wanted.test.number != 0)
        wanted.test.known = false;
    return follow(t, at, a, wanted);
}

/* Of several predecessors one was taken: what was found from `before` on holds only if the next one, from `path` on,
 * agrees. */
static bool merge_paths(struct trace *t, unsigned before, unsigned path)
{
    const struct dh_inst *insts = t->w->program->insts.at;
    if (path == before)
        return t->n > before;
    if (t->n - path != path - before)
        return false;
    for (unsigned n = before; n < path; n++) {
        struct dh_atomic_test *a = &t->found[n];
        const struct dh_atomic_test *b = &t->found[n - before + path];
        if (!a->at.expr || a->at.expr != b->at.expr || a->at.offset != b->at.offset || a->done != b->done ||
            a->test.relation != b->test.relation || a->test.known != b->test.known ||
            a->test.number != b->test.number || insts[a->inst].op != insts[b->inst].op)
            return false;
        a->acquires &= b->acquires;
    }
    t->n = path;
    return true;
}

/* `a && b`: predecessors that bring a constant which fails the test were not taken. */
static bool follow_phi(struct trace *t, struct frame_at at, const struct dh_inst *i, struct wanted wanted)
{
    const struct dh_program *p = t->w->program;
    unsigned before = t->n;
    bool any = false;
    int64_t number;
    for (uint32_t n = 0; n < i->n_operands; n += 2) {
        dh_value v = dh_operand(p, i, n);
        unsigned path = t->n;
        if (dh_value_int(p, v, &number) && wanted.test.known && !dh_value_test_holds(&wanted.test, number))
            continue;
        if (!follow(t, at, v, wanted) || !merge_paths(t, before, path))
            return false;
        any = true;
    }
    return any;
}

static bool follow_select(struct trace *t, struct frame_at at, const struct dh_inst *i, struct wanted wanted)
{
    const struct dh_program *p = t->w->program;
    int64_t number;
    for (uint32_t n = 1; n < 3; n++) {
        dh_value chosen = dh_operand(p, i, n), other = dh_operand(p, i, 3 - n);
        if (!dh_value_int(p, other, &number) || !wanted.test.known || dh_value_test_holds(&wanted.test, number))
            continue;
        struct wanted condition = {{DH_CMP_NE, true, n == 1 ? 0 : 1}, DH_NONE, at.function};
        bool decided = follow(t, at, dh_operand(p, i, 0), condition);
        return follow(t, at, chosen, wanted) || decided;
    }
    return false;
}

/* Every return of every callee must agree. */
static bool follow_call(struct trace *t, struct frame_at at, uint32_t inst, struct wanted wanted)
{
    const struct dh_program *p = t->w->program;
    struct dh_value_numbering *x = &t->w->state->values;
    unsigned before = t->n;
    bool any = false;
    if (at.deep == CALLS_DEEP)
        return false;
    for (uint32_t it = dh_call_graph_first(&t->w->points_to->calls, inst), to;
         dh_call_graph_next(&t->w->points_to->calls, inst, &it, &to);) {
        const struct dh_function *f = &p->functions.at[to];
        struct frame_at in = {to, at.deep + 1};
        for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
            const struct dh_inst *end = &p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1];
            int64_t number;
            if (end->op != DH_I_RETURN || !end->n_operands)
                continue;
            if (dh_value_int(p, dh_operand(p, end, 0), &number) && wanted.test.known &&
                !dh_value_test_holds(&wanted.test, number))
                continue;
            unsigned path = t->n;
            if (!follow(t, in, dh_operand(p, end, 0), wanted))
                return false;
            for (unsigned n = path; n < t->n; n++)
                t->found[n].at = dh_term_to_caller(x, t->found[n].at, at.function, &p->insts.at[inst], 1);
            if (!merge_paths(t, before, path))
                return false;
            any = true;
        }
    }
    return any;
}

/* Whether a function has acquire loads at all. */
static bool has_acquire_loads(struct dh_symex *w, uint32_t function)
{
    const struct dh_program *p = w->program;
    const struct dh_function *f = &p->functions.at[function];
    uint8_t *known = &w->state->atomics.looks.has[function];
    if (*known)
        return *known == 2;
    *known = 1;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++)
            if (p->insts.at[i].op == DH_I_LOAD && is_acquiring(p->insts.at[i].order))
                *known = 2;
    return *known == 2;
}

/* What an atomic load found is cached in a plain variable: `if (full(cached)) cached = load()`. */
static bool follow_cached(struct trace *t, struct frame_at at, uint32_t load, struct wanted wanted)
{
    struct dh_symex *w = t->w;
    const struct dh_program *p = w->program;
    const struct dh_function *f = &p->functions.at[at.function];
    struct dh_value_numbering *x = &w->state->values;
    if (at.deep || !has_acquire_loads(w, at.function))
        return false;
    struct dh_term from = dh_value_term(x, at.function, dh_operand(p, &p->insts.at[load], 0));
    wanted.test.known = false;
    for (uint32_t b = f->block; from.expr && b < f->block + f->n_blocks; b++)
        for (uint32_t i = p->blocks.at[b].inst; i < p->blocks.at[b].inst + p->blocks.at[b].n_insts; i++) {
            const struct dh_inst *store = &p->insts.at[i];
            if (store->op != DH_I_STORE || store->order)
                continue;
            struct dh_term to = dh_value_term(x, at.function, dh_operand(p, store, 0));
            if (to.expr != from.expr || to.offset != from.offset)
                continue;
            uint32_t made = dh_value_definition(w, at.function, dh_operand(p, store, 1));
            if (made == DH_NONE || p->insts.at[made].op != DH_I_LOAD || !is_acquiring(p->insts.at[made].order))
                return false;
            dh_vec_push(&w->state->atomics.looks.kept, ((struct dh_stored_test){load, made}));
            return note(t, at, made, wanted, false);
        }
    return false;
}

static bool follow_inst(struct trace *t, struct frame_at at, dh_value v, struct wanted wanted)
{
    const struct dh_program *p = t->w->program;
    const uint32_t *defined = dh_symex_definitions(t->w, at.function);
    if (!dh_is_register(v) || defined[v] == DH_NONE || ++t->steps > DEEPEST)
        return false;
    const struct dh_inst *i = &p->insts.at[defined[v]];
    switch (i->op) {
    case DH_I_LOAD:
        return i->order ? note(t, at, defined[v], wanted, false) : follow_cached(t, at, defined[v], wanted);
    case DH_I_RMW:
        return note(t, at, defined[v], wanted, false);
    case DH_I_CAS:
        return note(t, at, defined[v], wanted, false);
    case DH_I_SUCCEEDED: {
        bool truth;
        dh_value cas = dh_operand(p, i, 0);
        return is_truth_test(&wanted.test, &truth) && truth && dh_is_register(cas) && defined[cas] != DH_NONE &&
               note(t, at, defined[cas], wanted, true);
    }
    case DH_I_COPY:
        return follow(t, at, dh_operand(p, i, 0), wanted);
    case DH_I_COMPARE:
        return follow_compare(t, at, i, wanted);
    case DH_I_BINARY:
        return follow_binary(t, at, i, wanted);
    case DH_I_PHI:
        return follow_phi(t, at, i, wanted);
    case DH_I_SELECT:
        return follow_select(t, at, i, wanted);
    case DH_I_CALL:
        return follow_call(t, at, defined[v], wanted);
    default:
        return false;
    }
}

static bool follow(struct trace *t, struct frame_at at, dh_value v, struct wanted wanted)
{
    unsigned before = t->n;
    bool found = follow_inst(t, at, v, wanted);
    t->n = found ? t->n : before;
    return found;
}

/* ---- computed once for each branch ---- */

void dh_atomic_tests_init(struct dh_atomic_tests *l, struct dh_symex *w)
{
    *l = (struct dh_atomic_tests){.symex = w};
    l->of = dh_xcalloc(w->program->insts.n + 1, sizeof *l->of);
    l->has = dh_xcalloc(w->program->functions.n + 1, 1);
}

void dh_atomic_tests_release(struct dh_atomic_tests *l)
{
    free(l->of);
    free(l->has);
    dh_vec_release(&l->all);
    dh_vec_release(&l->kept);
}

const struct dh_branch_tests *dh_atomic_tests_of_branch(struct dh_atomic_tests *l, uint32_t function, uint32_t branch)
{
    const struct dh_program *p = l->symex->program;
    if (!l->of[branch]) {
        struct dh_branch_tests s = {0};
        for (unsigned side = 0; side < 2; side++) {
            struct trace t = {.w = l->symex};
            struct wanted wanted = {{side ? DH_CMP_EQ : DH_CMP_NE, true, 0}, DH_NONE, function};
            if (!follow(&t, (struct frame_at){function, 0}, dh_operand(p, &p->insts.at[branch], 0), wanted))
                continue;
            s.n[side] = (uint8_t)t.n;
            memcpy(s.at[side], t.found, sizeof t.found);
        }
        l->of[branch] = 1;
        if (s.n[0] || s.n[1]) {
            dh_vec_push(&l->all, s);
            l->of[branch] = (uint32_t)l->all.n + 1;
        }
    }
    return l->of[branch] > 1 ? &l->all.at[l->of[branch] - 2] : NULL;
}
