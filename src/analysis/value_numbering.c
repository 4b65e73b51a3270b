#include "analysis/value_numbering.h"

#include "base/alloc.h"
#include "model/control_flow.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 6 };

void dh_value_numbering_init(struct dh_value_numbering *x, const struct dh_program *p)
{
    *x = (struct dh_value_numbering){.program = p};
    x->functions = dh_xcalloc(p->functions.n, sizeof *x->functions);
    x->returns = dh_xcalloc(p->functions.n, sizeof *x->returns);
    dh_vec_push(&x->exprs, (struct dh_expr){0});
}

void dh_value_numbering_release(struct dh_value_numbering *x)
{
    for (size_t f = 0; x->functions && f < x->program->functions.n; f++)
        free(x->functions[f]);
    free(x->functions);
    free(x->returns);
    dh_index_release(&x->index);
    dh_vec_release(&x->exprs);
    dh_vec_release(&x->canon);
}

static uint64_t hash_expr(const struct dh_expr *e)
{
    uint64_t h = dh_hash_combine((uint64_t)e->kind << 32 | e->a, (uint64_t)e->b << 32 | e->c);
    return dh_hash_combine(h, (uint64_t)e->offset);
}

static bool same_expr(const struct dh_expr *a, const struct dh_expr *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->c == b->c && a->offset == b->offset;
}

uint32_t dh_expr_number(struct dh_value_numbering *x, struct dh_expr e)
{
    uint64_t hash = hash_expr(&e);
    struct dh_probe probe = dh_index_probe(&x->index, hash);
    for (uint32_t n; (n = dh_index_next(&x->index, &probe)) != DH_ABSENT;)
        if (same_expr(&x->exprs.at[n], &e))
            return n;
    uint32_t number = (uint32_t)x->exprs.n;
    dh_index_add(&x->index, hash, number);
    dh_vec_push(&x->exprs, e);
    return number;
}

static struct dh_term make_term(uint32_t expr, int64_t offset)
{
    return (struct dh_term){.expr = expr, .exact = true, .offset = offset};
}

static struct dh_term leaf_term(struct dh_value_numbering *x, enum dh_expr_kind kind, uint32_t a, uint32_t b)
{
    return make_term(dh_expr_number(x, (struct dh_expr){.kind = kind, .a = a, .b = b}), 0);
}

/* ---- the registers of one function ---- */

struct numbering {
    struct dh_value_numbering *x;
    uint32_t function;
    struct dh_term *terms; /* expr 0: not read yet */
    uint32_t *defined;
};

static struct dh_term constant_term(struct dh_value_numbering *x, dh_value v)
{
    const struct dh_constant *c = dh_program_constant(x->program, v);
    switch (c->kind) {
    case DH_CONST_INT:
        return make_term(dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_INT}), c->number);
    case DH_CONST_GLOBAL: {
        struct dh_term t = leaf_term(x, DH_EXPR_GLOBAL, c->index, 0);
        t.offset = c->number;
        return t;
    }
    case DH_CONST_FUNCTION:
        return leaf_term(x, DH_EXPR_FUNCTION, c->index, 0);
    default:
        return make_term(0, 0);
    }
}

static struct dh_term opaque_term(struct numbering *r, uint32_t reg)
{
    return leaf_term(r->x, DH_EXPR_REGISTER, r->function, reg);
}

static struct dh_term value_term(struct numbering *r, dh_value v)
{
    if (!dh_is_register(v))
        return constant_term(r->x, v);
    return r->terms[v].expr ? r->terms[v] : opaque_term(r, v);
}

static struct dh_term operand_term(struct numbering *r, const struct dh_inst *i, uint32_t n)
{
    return n < i->n_operands ? value_term(r, dh_operand(r->x->program, i, n)) : make_term(0, 0);
}

static bool is_int(const struct dh_value_numbering *x, struct dh_term t)
{
    return t.expr && x->exprs.at[t.expr].kind == DH_EXPR_INT;
}

/* One number for base and offset together. */
static uint32_t number_of_term(struct dh_value_numbering *x, struct dh_term t)
{
    if (!t.expr || !t.exact)
        return 0;
    if (is_int(x, t))
        return dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_INT, .offset = t.offset});
    if (!t.offset)
        return t.expr;
    uint32_t by = dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_INT, .offset = t.offset});
    return dh_expr_number(x, (struct dh_expr){.kind = DH_EXPR_BINARY, .a = t.expr, .b = by, .c = DH_BIN_ADD});
}

/* A pointer that advances through its object: the phi's own value, moved. */
static bool advances_from(const struct numbering *r, dh_value v, uint32_t phi)
{
    const struct dh_program *p = r->x->program;
    for (int depth = 0; depth < 16 && dh_is_register(v); depth++) {
        if (v == phi)
            return true;
        if (r->defined[v] == DH_NONE)
            return false;
        const struct dh_inst *i = &p->insts.at[r->defined[v]];
        if (i->op != DH_I_OFFSET && i->op != DH_I_INDEX && i->op != DH_I_COPY)
            return false;
        v = dh_operand(p, i, 0);
    }
    return false;
}

static bool is_null(const struct dh_program *p, dh_value v)
{
    int64_t number;
    return dh_value_int(p, v, &number) && number == 0;
}

/* False: not the same base. */
static bool merge_term(struct dh_term *into, struct dh_term t)
{
    if (!t.expr || (into->expr && into->expr != t.expr))
        return false;
    if (!into->expr) {
        *into = t;
        return true;
    }
    into->exact &= t.exact && into->offset == t.offset;
    if (t.offset < into->offset)
        into->offset = t.offset;
    return true;
}

static struct dh_term choice_term(struct numbering *r, const struct dh_inst *i, uint32_t first, uint32_t step)
{
    const struct dh_program *p = r->x->program;
    bool pointer = p->registers.at[p->functions.at[r->function].registers + i->result] == DH_REG_POINTER;
    struct dh_term all = make_term(0, 0);
    bool advancing = false;
    for (uint32_t n = first; n < i->n_operands; n += step) {
        dh_value v = dh_operand(p, i, n);
        if (pointer && is_null(p, v))
            continue;
        if (pointer && advances_from(r, v, i->result)) {
            advancing |= v != i->result;
            continue;
        }
        if (!merge_term(&all, value_term(r, v)))
            return opaque_term(r, i->result);
    }
    if (!all.expr || (!pointer && !all.exact))
        return opaque_term(r, i->result);
    all.exact &= !advancing;
    return all;
}

static struct dh_term index_term(struct numbering *r, const struct dh_inst *i)
{
    struct dh_term base = operand_term(r, i, 0), index = operand_term(r, i, 1);
    if (!base.expr)
        return opaque_term(r, i->result);
    if (is_int(r->x, index)) {
        base.offset += i->offset + index.offset * (int64_t)i->size;
        return base;
    }
    uint32_t number = index.exact ? index.expr : 0;
    if (!number || !base.exact)
        number = opaque_term(r, dh_is_register(dh_operand(r->x->program, i, 1)) ? dh_operand(r->x->program, i, 1)
                                                                                : i->result)
                     .expr;
    else
        base.offset += index.offset * (int64_t)i->size;
    uint32_t bounded = i->flags & DH_INST_BOUNDED ? DH_EXPR_BOUNDED : 0;
    struct dh_expr e = {DH_EXPR_INDEX, base.expr, number, i->size | bounded, base.offset + i->offset};
    return make_term(dh_expr_number(r->x, e), 0);
}

static struct dh_term binary_term(struct numbering *r, const struct dh_inst *i)
{
    struct dh_term a = operand_term(r, i, 0), b = operand_term(r, i, 1);
    if (i->extra == DH_BIN_ADD && is_int(r->x, a)) {
        struct dh_term t = a;
        a = b;
        b = t;
    }
    if ((i->extra == DH_BIN_ADD || i->extra == DH_BIN_SUB) && is_int(r->x, b) && a.expr && a.exact) {
        a.offset += i->extra == DH_BIN_ADD ? b.offset : -b.offset;
        return a;
    }
    uint32_t left = number_of_term(r->x, a), right = number_of_term(r->x, b);
    if (!left || !right || i->extra == DH_BIN_OTHER)
        return opaque_term(r, i->result);
    return make_term(dh_expr_number(r->x, (struct dh_expr){DH_EXPR_BINARY, left, right, i->extra, 0}), 0);
}

static struct dh_term load_term(struct numbering *r, const struct dh_inst *i)
{
    struct dh_term at = operand_term(r, i, 0);
    if (!at.expr || !at.exact || i->order || i->flags & DH_INST_VOLATILE)
        return opaque_term(r, i->result);
    struct dh_expr e = {DH_EXPR_LOAD, at.expr, i->result + 1, r->function, at.offset};
    return make_term(dh_expr_number(r->x, e), 0);
}

static struct dh_term call_term(struct numbering *r, const struct dh_inst *i)
{
    uint32_t callee = dh_value_function(r->x->program, dh_operand(r->x->program, i, 0));
    if (callee == DH_NONE || !r->x->functions[callee] || !r->x->returns[callee].expr)
        return opaque_term(r, i->result);
    /* The terms so far, so that arguments numbered before count. */
    r->x->functions[r->function] = r->terms;
    struct dh_term t = dh_term_to_caller(r->x, r->x->returns[callee], r->function, i, 1);
    r->x->functions[r->function] = NULL;
    return t.expr ? t : opaque_term(r, i->result);
}

static struct dh_term inst_term(struct numbering *r, const struct dh_inst *i)
{
    switch (i->op) {
    case DH_I_COPY: {
        struct dh_term t = operand_term(r, i, 0);
        return t.expr ? t : opaque_term(r, i->result);
    }
    case DH_I_PHI:
        return choice_term(r, i, 0, 2);
    case DH_I_SELECT:
        return choice_term(r, i, 1, 1);
    case DH_I_OFFSET: {
        struct dh_term t = operand_term(r, i, 0);
        t.offset += i->offset;
        return t.expr ? t : opaque_term(r, i->result);
    }
    case DH_I_INDEX:
        return index_term(r, i);
    case DH_I_BINARY:
        return binary_term(r, i);
    case DH_I_LOAD:
        return load_term(r, i);
    case DH_I_SLOT:
    case DH_I_ALLOC:
        return leaf_term(r->x, DH_EXPR_OBJECT, r->function, i->result);
    case DH_I_CALL:
        return call_term(r, i);
    default:
        return opaque_term(r, i->result);
    }
}

static void read_blocks(struct numbering *r)
{
    const struct dh_program *p = r->x->program;
    struct dh_cfg cfg = {0};
    dh_cfg_build(&cfg, p, r->function);
    for (int round = 0; round < 2; round++)
        for (uint32_t n = 0; n < cfg.order.n; n++) {
            const struct dh_basic_block *b = &p->blocks.at[cfg.first + cfg.order.at[n]];
            for (uint32_t k = b->inst; k < b->inst + b->n_insts; k++) {
                const struct dh_inst *i = &p->insts.at[k];
                if (i->result == DH_NONE)
                    continue;
                if (round == 0)
                    r->defined[i->result] = k;
                else
                    r->terms[i->result] = inst_term(r, i);
            }
        }
    dh_cfg_release(&cfg);
}

static struct dh_term return_term(struct numbering *r, const struct dh_function *f)
{
    const struct dh_program *p = r->x->program;
    struct dh_term all = make_term(0, 0);
    for (uint32_t b = f->block; b < f->block + f->n_blocks; b++) {
        const struct dh_inst *i = &p->insts.at[p->blocks.at[b].inst + p->blocks.at[b].n_insts - 1];
        if (i->op != DH_I_RETURN || !i->n_operands || is_null(p, dh_operand(p, i, 0)))
            continue;
        if (!merge_term(&all, value_term(r, dh_operand(p, i, 0))))
            return make_term(0, 0);
    }
    return all;
}

const struct dh_term *dh_function_terms(struct dh_value_numbering *x, uint32_t function)
{
    if (x->functions[function])
        return x->functions[function];
    const struct dh_function *f = &x->program->functions.at[function];
    struct numbering r = {.x = x, .function = function};
    r.terms = dh_xcalloc(f->n_registers, sizeof *r.terms);
    r.defined = dh_xcalloc(f->n_registers, sizeof *r.defined);
    memset(r.defined, 0xff, f->n_registers * sizeof *r.defined);
    for (uint32_t n = 0; n < f->n_params; n++)
        r.terms[n] = leaf_term(x, DH_EXPR_PARAM, n, 0);
    if (f->n_blocks)
        read_blocks(&r);
    x->returns[function] = return_term(&r, f);
    x->functions[function] = r.terms;
    free(r.defined);
    return r.terms;
}

struct dh_term dh_value_term(struct dh_value_numbering *x, uint32_t function, dh_value v)
{
    struct numbering r = {.x = x, .function = function, .terms = (struct dh_term *)dh_function_terms(x, function)};
    return value_term(&r, v);
}

/* ---- from one function to another ---- */

struct translation {
    struct dh_value_numbering *x;
    uint32_t caller;
    const struct dh_inst *call;
    uint32_t first_arg, n_params;
};

static struct dh_term argument_term(struct translation *q, uint32_t n)
{
    if (q->first_arg + n >= q->call->n_operands)
        return make_term(0, 0);
    struct numbering r = {.x = q->x, .function = q->caller, .terms = q->x->functions[q->caller]};
    return value_term(&r, dh_operand(q->x->program, q->call, q->first_arg + n));
}

typedef struct dh_term translate(struct translation *q, struct dh_term t, int depth);

/* The parts of a composed value, each translated. */
static struct dh_term translate_parts(struct translation *q, struct dh_term t, int depth, translate *part)
{
    struct dh_expr e = q->x->exprs.at[t.expr];
    if (depth > DEPTH_MAX)
        return make_term(0, 0);
    struct dh_term a = part(q, make_term(e.a, e.kind == DH_EXPR_BINARY ? 0 : e.offset), depth + 1), b = make_term(0, 0);
    if (!a.expr || !a.exact)
        return make_term(0, 0);
    if (e.kind != DH_EXPR_LOAD) {
        b = part(q, make_term(e.b, 0), depth + 1);
        if (!b.expr || !b.exact)
            return make_term(0, 0);
    }
    if (e.kind == DH_EXPR_BINARY)
        e = (struct dh_expr){DH_EXPR_BINARY, number_of_term(q->x, a), number_of_term(q->x, b), e.c, 0};
    else if (e.kind == DH_EXPR_INDEX && is_int(q->x, b))
        return (struct dh_term){a.expr, a.exact && t.exact,
                                a.offset + b.offset * (int64_t)dh_expr_stride(&e) + t.offset};
    else if (e.kind == DH_EXPR_INDEX)
        e = (struct dh_expr){DH_EXPR_INDEX, a.expr, b.expr, e.c, a.offset + b.offset * (int64_t)dh_expr_stride(&e)};
    else
        e = (struct dh_expr){DH_EXPR_LOAD, a.expr, 0, 0, a.offset};
    t.expr = dh_expr_number(q->x, e);
    return t;
}

static struct dh_term to_caller(struct translation *q, struct dh_term t, int depth)
{
    if (!t.expr)
        return t;
    const struct dh_expr *e = &q->x->exprs.at[t.expr];
    switch (e->kind) {
    case DH_EXPR_PARAM: {
        struct dh_term a = argument_term(q, e->a);
        a.offset += t.offset;
        a.exact &= t.exact;
        return a;
    }
    case DH_EXPR_GLOBAL:
    case DH_EXPR_FUNCTION:
    case DH_EXPR_INT:
        return t;
    case DH_EXPR_LOAD:
    case DH_EXPR_INDEX:
    case DH_EXPR_BINARY:
        return translate_parts(q, t, depth, to_caller);
    default:
        return make_term(0, 0);
    }
}

static struct dh_term to_callee(struct translation *q, struct dh_term t, int depth)
{
    if (!t.expr)
        return t;
    uint32_t kind = q->x->exprs.at[t.expr].kind;
    if (kind == DH_EXPR_GLOBAL || kind == DH_EXPR_FUNCTION || kind == DH_EXPR_INT)
        return t;
    for (uint32_t n = 0; n < q->n_params; n++) {
        struct dh_term a = argument_term(q, n);
        if (a.expr != t.expr || !a.exact)
            continue;
        struct dh_term in = leaf_term(q->x, DH_EXPR_PARAM, n, 0);
        in.exact = t.exact;
        in.offset = t.offset - a.offset;
        return in;
    }
    if (kind == DH_EXPR_LOAD || kind == DH_EXPR_INDEX || kind == DH_EXPR_BINARY)
        return translate_parts(q, t, depth, to_callee);
    return make_term(0, 0);
}

struct dh_term dh_term_to_caller(struct dh_value_numbering *x, struct dh_term t, uint32_t caller,
                                 const struct dh_inst *call, uint32_t first_arg)
{
    struct translation q = {x, caller, call, first_arg, 0};
    return to_caller(&q, t, 0);
}

struct dh_term dh_term_to_callee(struct dh_value_numbering *x, struct dh_term t, uint32_t caller,
                                 const struct dh_inst *call, uint32_t first_arg, uint32_t n_params)
{
    struct translation q = {x, caller, call, first_arg, n_params};
    return to_callee(&q, t, 0);
}

uint32_t dh_expr_canonical(struct dh_value_numbering *x, uint32_t expr)
{
    while (x->canon.n <= expr)
        dh_vec_push(&x->canon, 0);
    if (x->canon.at[expr])
        return x->canon.at[expr];
    struct dh_expr e = x->exprs.at[expr];
    if (e.kind == DH_EXPR_LOAD) {
        e.b = e.c = 0;
        e.a = dh_expr_canonical(x, e.a);
    } else if (e.kind == DH_EXPR_INDEX || e.kind == DH_EXPR_BINARY) {
        e.a = dh_expr_canonical(x, e.a);
        e.b = dh_expr_canonical(x, e.b);
    }
    uint32_t canon = dh_expr_number(x, e);
    x->canon.at[expr] = canon;
    return canon;
}

bool dh_expr_uses_register(const struct dh_value_numbering *x, uint32_t expr, uint32_t function, uint32_t reg)
{
    for (int depth = 0; expr && depth < 64; depth++) {
        const struct dh_expr *e = &x->exprs.at[expr];
        switch (e->kind) {
        case DH_EXPR_REGISTER:
        case DH_EXPR_OBJECT:
            return e->a == function && e->b == reg;
        case DH_EXPR_INDEX:
        case DH_EXPR_BINARY:
            if (dh_expr_uses_register(x, e->b, function, reg))
                return true;
            expr = e->a;
            break;
        case DH_EXPR_LOAD:
            if (e->b == reg + 1 && e->c == function)
                return true;
            expr = e->a;
            break;
        default:
            return false;
        }
    }
    return false;
}

uint32_t dh_expr_base(const struct dh_value_numbering *x, uint32_t expr)
{
    while (expr && x->exprs.at[expr].kind == DH_EXPR_INDEX)
        expr = x->exprs.at[expr].a;
    return expr;
}

uint32_t dh_expr_root(const struct dh_value_numbering *x, uint32_t expr)
{
    while (expr && (x->exprs.at[expr].kind == DH_EXPR_LOAD || x->exprs.at[expr].kind == DH_EXPR_INDEX))
        expr = x->exprs.at[expr].a;
    return expr;
}
