/* Provenance of values, by following definitions backwards through loads, phis and calls. Heuristics: a thread that
 * holds the lock of a table, a list or a tree may use what it found through it; an element at an index computed from
 * the thread's own argument is its own. */
#include "analysis/symex_internal.h"

enum { DEEPEST = 24, MOST_STEPS = 400 };

/* One query. */
struct provenance_query {
    struct dh_symex *w;
    uint32_t function;
    const struct dh_symex_lock *lock; /* NULL: collect the parameters that it comes from */
    uint32_t params;                  /* that were found */
    uint32_t visited[DEEPEST];        /* registers on the path: cycles do not count */
    unsigned depth, steps;
};

static bool is_found(struct provenance_query *r, dh_value v);

static bool is_lock(struct provenance_query *r, uint32_t expr)
{
    struct dh_value_numbering *x = &r->w->state->values;
    return r->lock && r->lock->expr && dh_expr_canonical(x, expr) == dh_expr_canonical(x, r->lock->expr);
}

static bool is_found_in_param(struct provenance_query *r, uint32_t param)
{
    if (param >= 32)
        return false;
    if (r->lock)
        return r->lock->reached_params >> param & 1;
    r->params |= 1u << param;
    return true;
}

/* Parameters through which a function's result is found, 0: not through them alone. */
static uint32_t returned_from(struct dh_symex *w, uint32_t function)
{
    uint32_t *known = &w->state->returned_params[function];
    const struct dh_program *p = w->program;
    const struct dh_function *f = &p->functions.at[function];
    if (*known)
        return *known == UINT32_MAX ? 0 : *known;
    *known = UINT32_MAX; /* also for recursions */
    struct provenance_query r = {.w = w, .function = function};
    bool all = f->n_blocks > 0;
    for (uint32_t b = f->block; b < f->block + f->n_blocks && all; b++) {
        const struct dh_inst *end = &p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1];
        if (end->op == DH_I_RETURN && end->n_operands)
            all = is_found(&r, dh_operand(p, end, 0));
    }
    *known = all && r.params ? r.params : UINT32_MAX;
    return all ? r.params : 0;
}

static bool is_found_by_call(struct provenance_query *r, uint32_t inst)
{
    const struct dh_inst *i = &r->w->program->insts.at[inst];
    const struct dh_call_graph *c = &r->w->points_to->calls;
    bool any = false;
    for (uint32_t it = dh_call_graph_first(c, inst), to; dh_call_graph_next(c, inst, &it, &to);) {
        /* What a library object returns is reachable from it. */
        bool object = r->w->state->library[to] >= DH_ROLE_LIBRARY_OBJECT;
        uint32_t from = object ? 1 : returned_from(r->w, to);
        bool fresh = r->w->state->summaries[to].returns_new;
        if (!from && !fresh)
            return false;
        for (uint32_t n = 0; n < 32 && n + 1 < i->n_operands; n++)
            if (from >> n & 1 && !is_found(r, dh_operand(r->w->program, i, n + 1)))
                return false;
        any = true;
    }
    return any;
}

static bool is_found_by_inst(struct provenance_query *r, uint32_t inst)
{
    const struct dh_program *p = r->w->program;
    const struct dh_inst *i = &p->insts.at[inst];
    uint32_t first = i->op == DH_I_SELECT ? 1 : 0, step = i->op == DH_I_PHI ? 2 : 1;
    switch (i->op) {
    case DH_I_PHI:
    case DH_I_SELECT:
        for (uint32_t n = first; n < i->n_operands; n += step)
            if (!is_found(r, dh_operand(p, i, n)))
                return false;
        return true;
    case DH_I_COPY:
    case DH_I_OFFSET:
    case DH_I_INDEX:
    case DH_I_LOAD:
        return is_found(r, dh_operand(p, i, 0));
    case DH_I_CALL:
        return is_found_by_call(r, inst);
    case DH_I_ALLOC:
        return true;
    default:
        return false;
    }
}

/* A local variable: an iterator and its container; a closure and what it captured. */
static bool is_found_through_variable(struct provenance_query *r, dh_value slot)
{
    const struct dh_program *p = r->w->program;
    const struct dh_function *f = &p->functions.at[r->function];
    struct dh_value_numbering *x = &r->w->state->values;
    dh_value object = dh_symex_iterated_container(r->w, r->function, slot);
    uint32_t root = dh_value_term(x, r->function, slot).expr;
    if (object != DH_NONE && is_found(r, object))
        return true;
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++)
        for (uint32_t n = p->blocks.at[b].inst; n < p->blocks.at[b].inst + p->blocks.at[b].n_insts; n++) {
            const struct dh_inst *i = &p->insts.at[n];
            if (i->op == DH_I_STORE && dh_is_register(dh_operand(p, i, 1)) &&
                dh_value_term(x, r->function, dh_operand(p, i, 0)).expr == root && is_found(r, dh_operand(p, i, 1)))
                return true;
        }
    return false;
}

/* Through the expression of an address. */
static bool is_found_by_expr(struct provenance_query *r, uint32_t expr)
{
    const struct dh_value_numbering *x = &r->w->state->values;
    for (unsigned depth = 0; expr && depth < DEEPEST; depth++) {
        if (is_lock(r, expr))
            return true;
        struct dh_expr e = x->exprs.at[expr];
        if (e.kind == DH_EXPR_PARAM)
            return is_found_in_param(r, e.a);
        if (e.kind == DH_EXPR_REGISTER && e.a == r->function && r->depth < DEEPEST) {
            uint32_t inst = dh_symex_definitions(r->w, e.a)[e.b];
            for (unsigned n = 0; n < r->depth; n++)
                if (r->visited[n] == e.b)
                    return true;
            r->visited[r->depth++] = e.b;
            bool yes = inst != DH_NONE && is_found_by_inst(r, inst);
            r->depth--;
            return yes;
        }
        if (e.kind == DH_EXPR_OBJECT && e.a == r->function && r->w->state->has_library)
            return is_found_through_variable(r, e.b);
        expr = e.kind == DH_EXPR_LOAD || e.kind == DH_EXPR_INDEX ? e.a : 0;
    }
    return false;
}

static bool is_found(struct provenance_query *r, dh_value v)
{
    int64_t number;
    if (++r->steps > MOST_STEPS)
        return false;
    if (dh_value_int(r->w->program, v, &number))
        return number == 0;
    return is_found_by_expr(r, dh_value_term(&r->w->state->values, r->function, v).expr);
}

bool dh_symex_found_through_lock(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v,
                                 const struct dh_symex_lock *lock)
{
    struct provenance_query r = {.w = w, .function = f->function, .lock = lock};
    return (lock->expr || lock->reached_params) && is_found(&r, v);
}

/* ---- thread indices ---- */

/* One query: registers that were visited. */
struct index_query {
    struct dh_symex *w;
    const struct dh_symex_activation *f;
    uint32_t visited[DEEPEST];
    unsigned n;
};

static bool is_thread_index(struct index_query *q, dh_value v);

static bool is_in_own_argument(const struct index_query *q, dh_value address)
{
    struct dh_value_numbering *x = &q->w->state->values;
    struct dh_expr e = x->exprs.at[dh_value_term(x, q->f->function, address).expr];
    return e.kind == DH_EXPR_PARAM && e.a < DH_ATTRIBUTES_MAX && q->f->attributes[e.a] & DH_ARG_OWN;
}

/* The element at a thread index: what it holds is the thread's own, too. */
static bool is_element_at_thread_index(struct index_query *q, dh_value address)
{
    const struct dh_program *p = q->w->program;
    uint32_t inst = dh_is_register(address) ? dh_symex_definitions(q->w, q->f->function)[address] : DH_NONE;
    return inst != DH_NONE && p->insts.at[inst].op == DH_I_INDEX &&
           is_thread_index(q, dh_operand(p, &p->insts.at[inst], 1));
}

static bool has_thread_index_operand(struct index_query *q, const struct dh_inst *i)
{
    uint32_t step = i->op == DH_I_PHI ? 2 : 1;
    for (uint32_t n = 0; n < i->n_operands; n += step)
        if (is_thread_index(q, dh_operand(q->w->program, i, n)))
            return true;
    return false;
}

static bool is_thread_index_param(const struct index_query *q, uint32_t param)
{
    const struct dh_program *p = q->w->program;
    uint8_t kind = p->registers.at[p->functions.at[q->f->function].registers + param];
    uint8_t a = param < DH_ATTRIBUTES_MAX ? q->f->attributes[param] : 0;
    return a & DH_ARG_THREAD_INDEX || (a & DH_ARG_OWN && kind != DH_REG_POINTER);
}

/* A number passed to the thread in place of an address. */
static bool is_cast_argument(const struct index_query *q, const struct dh_inst *i)
{
    const struct dh_program *p = q->w->program;
    const struct dh_function *f = &p->functions.at[q->f->function];
    dh_value v = dh_operand(p, i, 0);
    return dh_is_register(v) && v < f->n_params && v < DH_ATTRIBUTES_MAX && q->f->attributes[v] & DH_ARG_OWN &&
           p->registers.at[f->registers + i->result] != DH_REG_POINTER;
}

/* The neighbour of a thread index is another thread's, a multiple is not; nor is a part of that. */
static bool is_scaled(const struct index_query *q, const struct dh_inst *i)
{
    const struct dh_program *p = q->w->program;
    if (i->extra == DH_BIN_MUL || i->extra == DH_BIN_SHL)
        return true;
    dh_value v = dh_operand(p, i, 0);
    uint32_t inst = dh_is_register(v) ? dh_symex_definitions(q->w, q->f->function)[v] : DH_NONE;
    return i->extra == DH_BIN_DIV && inst != DH_NONE && p->insts.at[inst].op == DH_I_BINARY &&
           p->insts.at[inst].extra == DH_BIN_MUL;
}

static bool is_thread_index(struct index_query *q, dh_value v)
{
    const struct dh_program *p = q->w->program;
    int64_t next;
    if (!dh_is_register(v) || q->n == DEEPEST)
        return false;
    if (v < p->functions.at[q->f->function].n_params)
        return is_thread_index_param(q, v);
    for (unsigned n = 0; n < q->n; n++)
        if (q->visited[n] == v)
            return false;
    q->visited[q->n++] = v;
    uint32_t inst = dh_symex_definitions(q->w, q->f->function)[v];
    if (inst == DH_NONE)
        return false;
    const struct dh_inst *i = &p->insts.at[inst];
    switch (i->op) {
    case DH_I_LOAD:
        /* An object that the argument points to may be shared. */
        if (p->registers.at[p->functions.at[q->f->function].registers + v] != DH_REG_POINTER &&
            is_in_own_argument(q, dh_operand(p, i, 0)))
            return true;
        return is_element_at_thread_index(q, dh_operand(p, i, 0));
    case DH_I_BINARY:
        return (!dh_value_int(p, dh_operand(p, i, 1), &next) || is_scaled(q, i)) && has_thread_index_operand(q, i);
    case DH_I_COPY:
        return is_cast_argument(q, i) || has_thread_index_operand(q, i);
    case DH_I_PHI:
        return has_thread_index_operand(q, i);
    default:
        return false;
    }
}

/* The same for the index expression of what a callee returned. */
static bool is_thread_index_expr(struct index_query *q, uint32_t expr, int depth)
{
    const struct dh_value_numbering *x = &q->w->state->values;
    struct dh_expr e = x->exprs.at[expr];
    if (e.kind == DH_EXPR_PARAM)
        return is_thread_index_param(q, e.a);
    if (e.kind == DH_EXPR_REGISTER)
        return e.a == q->f->function && is_thread_index(q, e.b);
    return e.kind == DH_EXPR_BINARY && depth < 8 && x->exprs.at[e.b].kind != DH_EXPR_INT &&
           (is_thread_index_expr(q, e.a, depth + 1) || is_thread_index_expr(q, e.b, depth + 1));
}

bool dh_symex_is_thread_element(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v)
{
    struct index_query q = {.w = w, .f = f};
    struct dh_expr e = w->state->values.exprs.at[dh_value_term(&w->state->values, f->function, v).expr];
    int64_t stride = dh_expr_stride(&e);
    return e.kind == DH_EXPR_INDEX && e.offset < stride && e.offset > -stride && is_thread_index_expr(&q, e.b, 0);
}

bool dh_symex_loaded_by_thread_index(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v)
{
    struct index_query q = {.w = w, .f = f};
    if (v < w->program->functions.at[f->function].n_params)
        return v < DH_ATTRIBUTES_MAX && f->attributes[v] & DH_ARG_THREAD_INDEX;
    uint32_t inst = dh_symex_definitions(w, f->function)[v];
    return inst != DH_NONE && is_element_at_thread_index(&q, dh_operand(w->program, &w->program->insts.at[inst], 0));
}

bool dh_symex_is_thread_index(struct dh_symex *w, const struct dh_symex_activation *f, dh_value v)
{
    struct index_query q = {.w = w, .f = f};
    return is_thread_index(&q, v);
}
