#include "analysis/guard_conditions.h"

#include "analysis/atomic_tests.h"
#include "analysis/symex_internal.h"
#include "base/alloc.h"

#include <stdlib.h>

enum { DEEPEST = 12, MOST_STEPS = 4000 };

/* ---- numbers ---- */

/* Counting towards the test: down to zero, up from zero, up to a number. */
static bool counts_towards(bool up, const struct dh_guard_access *test)
{
    bool zero = test->known && test->number <= 0;
    switch (test->relation) {
    case DH_CMP_EQ:
        return !zero || !up;
    case DH_CMP_NE:
        return !test->known || zero == up;
    case DH_CMP_LT:
    case DH_CMP_LE:
        return !up;
    case DH_CMP_GT:
    case DH_CMP_GE:
        return up;
    default:
        return true;
    }
}

bool dh_guard_may_satisfy(const struct dh_guard_access *set, const struct dh_guard_access *test)
{
    if (set->change == DH_GUARD_INCREASED || set->change == DH_GUARD_DECREASED)
        return counts_towards(set->change == DH_GUARD_INCREASED, test);
    return !set->known || !test->known || dh_compare_holds(set->number, test->relation, test->number);
}

bool dh_guard_blocks(const struct dh_guard_access *set, const struct dh_guard_access *test)
{
    if (test->relation == DH_CMP_OTHER || !test->known)
        return false;
    if (set->change == DH_GUARD_ASSIGNED)
        return set->known && !dh_compare_holds(set->number, test->relation, test->number);
    /* One more than before is not zero; one less than one is. */
    if (set->change == DH_GUARD_INCREASED)
        return !dh_compare_holds(1, test->relation, test->number) && dh_compare_holds(0, test->relation, test->number);
    return set->change == DH_GUARD_DECREASED && !dh_compare_holds(0, test->relation, test->number) &&
           dh_compare_holds(1, test->relation, test->number);
}

bool dh_guards_contradict(const struct dh_guard_access *one, const struct dh_guard_access *other)
{
    if (!one->known || !other->known || one->relation == DH_CMP_OTHER || other->relation == DH_CMP_OTHER)
        return false;
    for (int64_t by = -1; by <= 1; by++)
        for (int which = 0; which < 2; which++) {
            int64_t n = (which ? other : one)->number + by;
            if (dh_compare_holds(n, one->relation, one->number) && dh_compare_holds(n, other->relation, other->number))
                return false;
        }
    return true;
}

/* ---- values across calls ---- */

const struct dh_call_path *dh_guards_enter_callee(struct dh_guards *x, const struct dh_call_path *at, uint32_t call,
                                                  uint32_t function)
{
    if (x->n_paths == DH_CALL_PATHS_MAX)
        return NULL;
    struct dh_call_path *to = &x->paths[x->n_paths++];
    *to = (struct dh_call_path){function, call, at, DH_NONE};
    return to;
}

bool dh_call_path_argument(const struct dh_symex *w, const struct dh_call_path *at, uint32_t param,
                           struct dh_call_path *caller, dh_value *v)
{
    const struct dh_program *p = w->program;
    uint32_t call = at->call;
    if (at->up)
        *caller = *at->up;
    else {
        const struct dh_context *c = &w->contexts.at[at->context];
        if (c->caller == DH_NONE)
            return false;
        call = at->call != DH_NONE ? at->call : c->call;
        *caller = (struct dh_call_path){w->contexts.at[c->caller].function, DH_NONE, NULL, c->caller};
    }
    if (call == DH_NONE || p->insts.at[call].op != DH_I_CALL || param + 1 >= p->insts.at[call].n_operands)
        return false;
    *v = dh_operand(p, &p->insts.at[call], param + 1);
    return true;
}

static const struct dh_inst *defined(struct dh_guards *x, const struct dh_call_path *at, dh_value v, uint32_t *inst)
{
    if (!dh_is_register(v))
        return NULL;
    *inst = dh_symex_definitions(x->symex, at->function)[v];
    return *inst != DH_NONE ? &x->symex->program->insts.at[*inst] : NULL;
}

static bool number_of(struct dh_guards *x, const struct dh_call_path *at, dh_value v, int64_t *number, int depth)
{
    const struct dh_program *p = x->symex->program;
    uint32_t inst;
    if (dh_value_int(p, v, number))
        return true;
    if (!dh_is_register(v) || depth > DEEPEST)
        return false;
    struct dh_call_path caller;
    dh_value up;
    if (v < p->functions.at[at->function].n_params)
        return dh_call_path_argument(x->symex, at, v, &caller, &up) && number_of(x, &caller, up, number, depth + 1);
    const struct dh_inst *i = defined(x, at, v, &inst);
    return i && i->op == DH_I_COPY && number_of(x, at, dh_operand(p, i, 0), number, depth + 1);
}

/* The only value that a function returns, DH_NONE: several. */
static dh_value returned(const struct dh_program *p, uint32_t function)
{
    const struct dh_function *f = &p->functions.at[function];
    dh_value only = DH_NONE;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_inst *end = &p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1];
        if (end->op != DH_I_RETURN || !end->n_operands)
            continue;
        if (only != DH_NONE)
            return DH_NONE;
        only = dh_operand(p, end, 0);
    }
    return only;
}

/* The only callee, entered from here. */
static const struct dh_call_path *only_callee(struct dh_guards *x, const struct dh_call_path *at, uint32_t call)
{
    uint32_t it = dh_call_graph_first(&x->symex->points_to->calls, call), to, more;
    if (!dh_call_graph_next(&x->symex->points_to->calls, call, &it, &to) ||
        dh_call_graph_next(&x->symex->points_to->calls, call, &it, &more))
        return NULL;
    return dh_guards_enter_callee(x, at, call, to);
}

static struct dh_heap_cell place_of(struct dh_guards *x, const struct dh_call_path *at, dh_value v, uint32_t inst,
                                    int depth)
{
    struct dh_symex *w = x->symex;
    if (!at->up && x->frame[at->context]) {
        struct dh_heap_cell c =
            dh_symex_bound_cell(w, x->frame[at->context], dh_points_to_value(w->points_to, at->function, v));
        return c.node == DH_NO_NODE ? c : dh_points_to_fold_cell(w->points_to, c);
    }
    struct dh_term t = dh_value_term(&w->state->values, at->function, v);
    struct dh_expr e = w->state->values.exprs.at[t.expr];
    struct dh_call_path caller;
    dh_value up;
    if (t.expr && t.exact && e.kind == DH_EXPR_PARAM && depth < DEEPEST &&
        dh_call_path_argument(x->symex, at, e.a, &caller, &up)) {
        struct dh_heap_cell c = place_of(x, &caller, up, DH_NONE, depth + 1);
        if (c.node != DH_NO_NODE)
            return dh_points_to_fold_cell(w->points_to,
                                          dh_heap_graph_find(&w->points_to->graph, dh_heap_cell_at(c, t.offset)));
    }
    return inst != DH_NONE && x->locked[inst] ? x->place[inst] : DH_NO_CELL;
}

/* ---- what is set ---- */

/* An atomic count with release semantics. */
static bool by_count(const struct dh_program *p, const struct dh_inst *i, struct dh_guard_access *access)
{
    int64_t by;
    bool releases = i->order == DH_ORDER_RELEASE || i->order == DH_ORDER_ACQ_REL || i->order == DH_ORDER_SEQ_CST;
    if (!releases || (i->extra != DH_BIN_ADD && i->extra != DH_BIN_SUB))
        return false;
    bool down = dh_value_int(p, dh_operand(p, i, 1), &by) && by < 0;
    access->change = down == (i->extra == DH_BIN_ADD) ? DH_GUARD_DECREASED : DH_GUARD_INCREASED;
    return true;
}

static bool by_semaphore(const struct dh_program *p, const struct dh_inst *i, struct dh_guard_access *access)
{
    switch (i->op) {
    case DH_I_RMW:
        return by_count(p, i, access);
    case DH_I_SEM_POST:
        access->change = DH_GUARD_INCREASED;
        return true;
    case DH_I_SEM_WAIT:
        access->change = DH_GUARD_DECREASED;
        access->taking = true;
        return true;
    case DH_I_RELEASE:
        access->change = DH_GUARD_CHANGED;
        return true;
    default:
        return false;
    }
}

/* How the new value comes from the old one. */
static void by_value(struct dh_guards *x, const struct dh_call_path *at, const struct dh_inst *store,
                     struct dh_guard_access *access)
{
    const struct dh_program *p = x->symex->program;
    struct dh_value_numbering *exprs = &x->symex->state->values;
    dh_value v = dh_operand(p, store, 1);
    uint32_t inst;
    const struct dh_inst *i = defined(x, at, v, &inst);
    int64_t by;
    access->change = DH_GUARD_CHANGED;
    if (number_of(x, at, v, &access->number, 0)) {
        access->known = true;
        access->change = DH_GUARD_ASSIGNED;
        return;
    }
    if (!i || i->op != DH_I_BINARY || (i->extra != DH_BIN_ADD && i->extra != DH_BIN_SUB))
        return;
    const struct dh_inst *old = defined(x, at, dh_operand(p, i, 0), &inst);
    struct dh_term to = dh_value_term(exprs, at->function, dh_operand(p, store, 0));
    struct dh_term from = {0};
    if (old && old->op == DH_I_LOAD)
        from = dh_value_term(exprs, at->function, dh_operand(p, old, 0));
    if (!from.expr || from.offset != to.offset ||
        dh_expr_canonical(exprs, from.expr) != dh_expr_canonical(exprs, to.expr))
        return;
    bool down = dh_value_int(p, dh_operand(p, i, 1), &by) && by < 0;
    access->change = down == (i->extra == DH_BIN_ADD) ? DH_GUARD_DECREASED : DH_GUARD_INCREASED;
}

/* Of many objects on the heap, the offset of the library's counter is not always known. */
static struct dh_heap_cell whole_object(const struct dh_guards *x, struct dh_heap_cell at)
{
    if (at.node != DH_NO_NODE && !dh_symex_is_unique(x->symex, at.node))
        at.offset = DH_GUARD_WHOLE_OBJECT;
    return at;
}

/* Also initialisation. */
static bool find_set(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst, struct dh_guard_access *access)
{
    const struct dh_inst *i = &x->symex->program->insts.at[inst];
    *access = (struct dh_guard_access){.kind = DH_GUARD_SET, .inst = inst};
    if (i->op == DH_I_STORE || i->op == DH_I_SEM_INIT)
        by_value(x, at, i, access);
    else if (!by_semaphore(x->symex->program, i, access))
        return false;
    access->at = place_of(x, at, dh_operand(x->symex->program, i, 0), inst, 0);
    access->library = i->op == DH_I_RELEASE || i->op == DH_I_RMW || i->op == DH_I_SEM_POST;
    if (i->op == DH_I_RELEASE)
        access->at = whole_object(x, access->at);
    return access->at.node != DH_NO_NODE;
}

bool dh_guards_set_by(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst, struct dh_guard_access *access)
{
    const struct dh_inst *i = &x->symex->program->insts.at[inst];
    if (i->op == DH_I_SEM_INIT || (i->op == DH_I_STORE && x->locked[inst] != 1))
        return false;
    return find_set(x, at, inst, access);
}

bool dh_guards_awaited_by(struct dh_guards *x, const struct dh_call_path *at, uint32_t inst,
                          struct dh_guard_access *access)
{
    const struct dh_inst *i = &x->symex->program->insts.at[inst];
    if (i->op != DH_I_ACQUIRE)
        return false;
    *access = (struct dh_guard_access){.kind = DH_GUARD_TEST, .relation = DH_CMP_OTHER, .inst = inst};
    access->at = place_of(x, at, dh_operand(x->symex->program, i, 0), inst, 0);
    access->at = whole_object(x, access->at);
    return access->at.node != DH_NO_NODE;
}

/* ---- what is tested ---- */

struct test {
    struct dh_guards *x;
    struct dh_guard_access *accesses;
    unsigned n;
};

/* A value that was loaded under a lock, perhaps by a callee or in a caller. */
static bool loaded(struct test *t, const struct dh_call_path *at, dh_value v, struct dh_guard_access *access, int depth)
{
    struct dh_guards *x = t->x;
    const struct dh_program *p = x->symex->program;
    uint32_t inst;
    if (!dh_is_register(v) || depth > DEEPEST || ++x->steps > MOST_STEPS)
        return false;
    if (v < p->functions.at[at->function].n_params) {
        struct dh_call_path caller;
        dh_value up;
        return dh_call_path_argument(x->symex, at, v, &caller, &up) && loaded(t, &caller, up, access, depth + 1);
    }
    const struct dh_inst *i = defined(x, at, v, &inst);
    if (!i)
        return false;
    if (i->op == DH_I_COPY)
        return loaded(t, at, dh_operand(p, i, 0), access, depth + 1);
    if (i->op == DH_I_LOAD && x->locked[inst] == 1) {
        *access = (struct dh_guard_access){.kind = DH_GUARD_TEST, .inst = inst};
        access->at = place_of(x, at, dh_operand(p, i, 0), inst, 0);
        return access->at.node != DH_NO_NODE;
    }
    if (i->op == DH_I_BINARY) /* a count that is stored and tested at once */
        return false;
    const struct dh_call_path *to = i->op == DH_I_CALL ? only_callee(x, at, inst) : NULL;
    dh_value back = to ? returned(p, to->function) : DH_NONE;
    return back != DH_NONE && loaded(t, to, back, access, depth + 1);
}

static void tests(struct test *t, const struct dh_call_path *at, dh_value v, bool yes, int depth);

static void note(struct test *t, struct dh_guard_access *access)
{
    if (t->n < DH_GUARDS_PER_EDGE)
        t->accesses[t->n++] = *access;
}

/* Loaded in the block that compares it, or by a callee. */
static bool is_near(const struct test *t, const struct dh_inst *compare, uint32_t load)
{
    const struct dh_program *p = t->x->symex->program;
    uint32_t here = dh_program_block_of(p, (uint32_t)(compare - p->insts.at)), there = dh_program_block_of(p, load);
    return here == there || p->blocks.at[here].function != p->blocks.at[there].function;
}

static void by_compare(struct test *t, const struct dh_call_path *at, const struct dh_inst *i, bool yes, int depth)
{
    const struct dh_program *p = t->x->symex->program;
    dh_value a = dh_operand(p, i, 0), b = dh_operand(p, i, 1);
    enum dh_compare relation = yes ? i->extra : dh_compare_negate(i->extra);
    struct dh_guard_access access;
    uint32_t inst;
    int64_t number;
    const struct dh_inst *inner = defined(t->x, at, a, &inst);
    bool truth = inner && (inner->op == DH_I_COMPARE || inner->op == DH_I_PHI || inner->op == DH_I_CALL);
    if (truth && dh_value_int(p, b, &number) && !number && (relation == DH_CMP_EQ || relation == DH_CMP_NE)) {
        unsigned before = t->n;
        tests(t, at, a, relation == DH_CMP_NE, depth + 1);
        if (t->n > before)
            return;
    }
    struct dh_guard_access second;
    bool one = loaded(t, at, a, &access, 0), other = loaded(t, at, b, &second, 0);
    /* What was loaded earlier counts as a constant. */
    bool both = one && other && is_near(t, i, access.inst) == is_near(t, i, second.inst);
    if (one && (!other || both || is_near(t, i, access.inst))) {
        access.relation = relation;
        access.known = number_of(t->x, at, b, &access.number, 0);
        note(t, &access);
    }
    if (other && (!one || both || is_near(t, i, second.inst))) {
        second.relation = dh_compare_mirror(relation);
        second.known = number_of(t->x, at, a, &second.number, 0);
        note(t, &second);
    }
}

/* Conditions joined by && and ||: all predecessors but one bring the other constant. */
static void by_phi(struct test *t, const struct dh_call_path *at, const struct dh_inst *i, bool yes, int depth)
{
    const struct dh_program *p = t->x->symex->program;
    uint32_t first = p->functions.at[at->function].block, n_left = 0, open = 0;
    int64_t number;
    for (uint32_t k = 0; k + 1 < i->n_operands; k += 2)
        if (!dh_value_int(p, dh_operand(p, i, k), &number) || (number != 0) == yes) {
            n_left++;
            open = k;
        }
    if (n_left != 1)
        return;
    uint32_t block = first + dh_operand(p, i, open + 1);
    tests(t, at, dh_operand(p, i, open), yes, depth + 1);
    for (unsigned up = 0; up < 4 && p->blocks.at[block].n_preds == 1; up++) {
        uint32_t pred = dh_predecessors(p, &p->blocks.at[block])[0];
        struct dh_guard_access more[DH_GUARDS_PER_EDGE];
        unsigned n = dh_guards_on_edge(t->x, at, pred, block, more);
        for (unsigned k = 0; k < n; k++)
            note(t, &more[k]);
        block = pred;
    }
}

static void tests(struct test *t, const struct dh_call_path *at, dh_value v, bool yes, int depth)
{
    const struct dh_program *p = t->x->symex->program;
    struct dh_guard_access access;
    uint32_t inst;
    int64_t number;
    const struct dh_inst *i = defined(t->x, at, v, &inst);
    if (!i || depth > DEEPEST || ++t->x->steps > MOST_STEPS)
        return;
    if (i->op == DH_I_COMPARE) {
        by_compare(t, at, i, yes, depth);
        return;
    }
    if (i->op == DH_I_PHI) {
        by_phi(t, at, i, yes, depth);
        return;
    }
    if (i->op == DH_I_BINARY && i->extra == DH_BIN_XOR && dh_value_int(p, dh_operand(p, i, 1), &number)) {
        tests(t, at, dh_operand(p, i, 0), number ? !yes : yes, depth + 1);
        return;
    }
    if (loaded(t, at, v, &access, 0)) {
        access.relation = yes ? DH_CMP_NE : DH_CMP_EQ;
        access.known = true;
        note(t, &access);
        return;
    }
    if (i->op == DH_I_COPY)
        tests(t, at, dh_operand(p, i, 0), yes, depth + 1);
    const struct dh_call_path *to = i->op == DH_I_CALL ? only_callee(t->x, at, inst) : NULL;
    dh_value back = to ? returned(p, to->function) : DH_NONE;
    if (back != DH_NONE)
        tests(t, to, back, yes, depth + 1);
}

unsigned dh_guards_on_edge(struct dh_guards *x, const struct dh_call_path *at, uint32_t from, uint32_t to,
                           struct dh_guard_access *accesses)
{
    const struct dh_program *p = x->symex->program;
    const struct dh_basic_block *b = &p->blocks.at[from];
    const struct dh_inst *end = &p->insts.at[b->inst + b->n_insts - 1];
    if (end->op != DH_I_BRANCH || dh_successors(p, b)[0] == dh_successors(p, b)[1])
        return 0;
    struct test t = {x, accesses, 0};
    unsigned paths = x->n_paths;
    x->steps = 0;
    tests(&t, at, dh_operand(p, end, 0), dh_successors(p, b)[0] == to, 0);
    x->n_paths = paths;
    return t.n;
}

/* ---- functions that access guards ---- */

bool dh_guards_involve(const struct dh_guards *x, uint32_t inst)
{
    const struct dh_inst *i = &x->symex->program->insts.at[inst];
    const struct dh_call_graph *calls = &x->symex->points_to->calls;
    struct dh_guard_access scratch;
    if (x->locked[inst] == 1 || i->op == DH_I_ACQUIRE || by_semaphore(x->symex->program, i, &scratch))
        return true;
    for (uint32_t it = dh_call_graph_first(calls, inst), to;
         i->op == DH_I_CALL && dh_call_graph_next(calls, inst, &it, &to);)
        if (x->involved[to])
            return true;
    return false;
}

/* Callees first; the second time for recursions. */
static void find_involved(struct dh_guards *x)
{
    const struct dh_program *p = x->symex->program;
    const struct dh_call_graph *calls = &x->symex->points_to->calls;
    for (uint32_t n = 0; n < 2 * p->functions.n; n++) {
        uint32_t f = x->symex->points_to->calls.order[n % p->functions.n];
        const struct dh_function *function = &p->functions.at[f];
        if (!function->n_blocks)
            continue;
        const struct dh_basic_block *last = &p->blocks.at[function->block + function->n_blocks - 1];
        for (uint32_t i = p->blocks.at[function->block].inst; i < last->inst + last->n_insts; i++) {
            x->involved[f] |= dh_guards_involve(x, i);
            for (uint32_t it = dh_call_graph_first(calls, i), to;
                 p->insts.at[i].op == DH_I_CALL && dh_call_graph_next(calls, i, &it, &to);)
                x->about[f] |= x->about[to];
        }
    }
}

/* ---- variables that are tested ---- */

static uint64_t key_of(struct dh_heap_cell at)
{
    return dh_pair_key(at.node, (uint32_t)at.offset);
}

bool dh_guards_is_tested(const struct dh_guards *x, struct dh_heap_cell at)
{
    return dh_u64_set_has(&x->tested, key_of(at));
}

/* The value goes into a condition, or is returned. */
static void mark_tests(struct dh_guards *x, uint8_t *tests)
{
    struct dh_symex *w = x->symex;
    for (uint32_t b = 0; b < w->program->blocks.n; b++) {
        const struct dh_basic_block *block = &w->program->blocks.at[b];
        for (uint32_t i = block->inst; i < block->inst + block->n_insts; i++) {
            const struct dh_inst *inst = &w->program->insts.at[i];
            bool asks = inst->op == DH_I_COMPARE || inst->op == DH_I_BRANCH || inst->op == DH_I_RETURN;
            for (uint32_t n = 0; asks && n < inst->n_operands; n++) {
                dh_value v = dh_operand(w->program, inst, n);
                uint32_t from = dh_is_register(v) ? dh_symex_definitions(w, block->function)[v] : DH_NONE;
                while (from != DH_NONE && w->program->insts.at[from].op == DH_I_COPY) {
                    v = dh_operand(w->program, &w->program->insts.at[from], 0);
                    from = dh_is_register(v) ? dh_symex_definitions(w, block->function)[v] : DH_NONE;
                }
                if (from != DH_NONE && x->locked[from] == 1)
                    tests[from] = 1;
            }
        }
    }
}

static void find_tested(struct dh_guards *x)
{
    struct dh_symex *w = x->symex;
    uint8_t *tests = dh_xcalloc(w->program->insts.n, 1);
    mark_tests(x, tests);
    for (uint32_t n = 0; n < w->events.n; n++) {
        struct dh_heap_cell at = {w->events.at[n].node, w->events.at[n].offset};
        if (w->events.at[n].kind == DH_SYMEX_READ && tests[w->events.at[n].inst])
            dh_u64_set_add(&x->tested, key_of(at));
    }
    free(tests);
}

static void note_place(struct dh_guards *x, const struct dh_symex_event *e)
{
    struct dh_heap_cell *at = &x->place[e->inst], here = {e->node, e->offset};
    if (!x->locked[e->inst])
        *at = here;
    else if (at->node != here.node || at->offset != here.offset)
        *at = DH_NO_CELL;
}

void dh_guards_init(struct dh_guards *x, struct dh_symex *w)
{
    *x = (struct dh_guards){.symex = w};
    x->locked = dh_xcalloc(w->program->insts.n, 1);
    x->involved = dh_xcalloc(w->program->functions.n, 1);
    x->about = dh_xcalloc(w->program->functions.n, sizeof *x->about);
    x->frame = dh_xcalloc(w->contexts.n, sizeof *x->frame);
    x->reads = dh_xcalloc(w->program->insts.n, sizeof *x->reads);
    x->place = dh_xcalloc(w->program->insts.n, sizeof *x->place);
    x->set = dh_xcalloc(w->events.n, sizeof *x->set);
    for (size_t n = 0; n < w->state->activations.n; n++)
        x->frame[w->state->activations.at[n]->context] = w->state->activations.at[n];
    for (uint32_t n = 0; n < w->events.n; n++) {
        const struct dh_symex_event *e = &w->events.at[n];
        if (e->kind <= DH_SYMEX_WRITE && !(e->flags & (DH_SYMEX_FREE | DH_SYMEX_LOCK_USE | DH_SYMEX_FRESH))) {
            note_place(x, e);
            if (e->kind == DH_SYMEX_READ)
                x->reads[e->inst] = n + 1;
            x->locked[e->inst] |= w->locksets.at[e->lockset].n ? 1 : 2;
        }
        if (e->kind == DH_SYMEX_POST || e->kind == DH_SYMEX_AWAIT) {
            note_place(x, e);
            x->locked[e->inst] |= 4;
        }
        bool sets = e->kind == DH_SYMEX_WRITE && !(e->flags & (DH_SYMEX_FREE | DH_SYMEX_LOCK_USE));
        if (sets || e->kind == DH_SYMEX_POST)
            x->set[x->n_set++] = n;
    }
    dh_symex_sort_by_place(w, x->set, x->n_set);
    for (uint32_t n = 0; n < w->events.n; n++)
        x->about[w->contexts.at[w->events.at[n].context].function] |= dh_guards_object_bit(w->events.at[n].node);
    find_involved(x);
    find_tested(x);
}

void dh_guards_release(struct dh_guards *x)
{
    free(x->locked);
    free(x->involved);
    free(x->about);
    free(x->frame);
    free(x->reads);
    dh_u64_set_release(&x->tested);
    free(x->place);
    free(x->set);
}

/* ---- events ---- */

uint32_t dh_guards_first_set(const struct dh_guards *x, struct dh_heap_cell at)
{
    uint32_t low = 0, high = x->n_set;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        const struct dh_symex_event *e = &x->symex->events.at[x->set[mid]];
        if (e->node < at.node || (e->node == at.node && e->offset < at.offset))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

unsigned dh_guards_values_set(struct dh_guards *x, uint32_t event, struct dh_guard_access *accesses, unsigned most)
{
    const struct dh_symex *w = x->symex;
    const struct dh_symex_event *e = &w->events.at[event];
    uint32_t function = w->contexts.at[e->context].function;
    struct dh_call_path at = {function, DH_NONE, NULL, e->context};
    unsigned n = 0;
    n += find_set(x, &at, e->inst, &accesses[0]);
    for (uint32_t k = w->state->callers_of.n > e->context ? w->state->callers_of.at[e->context] : 0; k && n < most;) {
        const struct dh_context_caller *c = &w->state->callers.at[k - 1];
        k = c->next;
        if (c->caller == DH_NONE)
            continue;
        struct dh_call_path from = {w->contexts.at[c->caller].function, DH_NONE, NULL, c->caller};
        struct dh_call_path in = {function, c->call, &from, DH_NONE};
        if (find_set(x, &in, e->inst, &accesses[n])) {
            accesses[n].at = (struct dh_heap_cell){e->node, e->offset};
            n++;
        }
    }
    return n;
}
