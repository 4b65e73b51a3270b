/* Global value numbering: registers that must be equal get one number, so do `q->head` and `q->head`, and the
 * indices of `lock[i]` and `data[i]`. Layer: analysis.
 * Numbers are of the whole program; leaves are parameters of the function, so that a value can be translated into a
 * caller's or a callee's terms. A load is a value as long as its field is not stored to: users of the number check
 * the fields it reads. Owns its storage. */
#ifndef DH_ANALYSIS_VALUE_NUMBERING_H
#define DH_ANALYSIS_VALUE_NUMBERING_H

#include "base/map.h"
#include "model/program.h"

enum dh_expr_kind {
    DH_EXPR_NONE, /* number 0: not known */
    DH_EXPR_PARAM,
    DH_EXPR_REGISTER, /* any other register: a = function, b = register */
    DH_EXPR_OBJECT,   /* allocation or stack slot: a = function, b = register */
    DH_EXPR_GLOBAL,
    DH_EXPR_FUNCTION,
    DH_EXPR_INT,    /* offset = the number */
    DH_EXPR_LOAD,   /* a = address, offset: of the field; b = register + 1, c = function, both 0: any load from there */
    DH_EXPR_INDEX,  /* a = address, b = index, offset; c = stride */
    DH_EXPR_BINARY, /* a, b, c = dh_binary */
    DH_EXPR_CALLER_VALUE /* a value of a caller that is no parameter */
};

#define DH_EXPR_BOUNDED 0x80000000u /* the index stays inside an array of known extent */

struct dh_expr {
    uint32_t kind, a, b, c;
    int64_t offset;
};

/* A register's value: base + offset. */
struct dh_term {
    uint32_t expr;
    bool exact; /* else: somewhere in the object that expr points into */
    int64_t offset;
};

struct dh_value_numbering {
    const struct dh_program *program;
    DH_VEC(struct dh_expr) exprs;
    struct dh_index index;
    DH_VEC(uint32_t) canon;     /* by expression: the same with `any` loads, 0 = not computed yet */
    struct dh_term **functions; /* by function: terms of its registers, NULL = not numbered yet */
    struct dh_term *returns;    /* by function: what it returns in terms of its parameters, expr 0 = unknown */
};

void dh_value_numbering_init(struct dh_value_numbering *x, const struct dh_program *p);
void dh_value_numbering_release(struct dh_value_numbering *x);
uint32_t dh_expr_number(struct dh_value_numbering *x, struct dh_expr e);
/* Terms of all registers of a function; callees' return values are used when these were numbered before. */
const struct dh_term *dh_function_terms(struct dh_value_numbering *x, uint32_t function);
struct dh_term dh_value_term(struct dh_value_numbering *x, uint32_t function, dh_value v);
/* The expression with parameters replaced by the arguments of a call in `caller`; 0 when there is no such term. */
struct dh_term dh_term_to_caller(struct dh_value_numbering *x, struct dh_term t, uint32_t caller,
                                 const struct dh_inst *call, uint32_t first_arg);
/* The inverse; 0 when it is not reachable from an argument. */
struct dh_term dh_term_to_callee(struct dh_value_numbering *x, struct dh_term t, uint32_t caller,
                                 const struct dh_inst *call, uint32_t first_arg, uint32_t n_params);
/* Loads from one address are one: equal numbers mean equal values as long as the fields read do not change. */
uint32_t dh_expr_canonical(struct dh_value_numbering *x, uint32_t expr);
/* Whether the expression uses a register of the function (which is being assigned again). */
bool dh_expr_uses_register(const struct dh_value_numbering *x, uint32_t expr, uint32_t function, uint32_t reg);
static inline uint32_t dh_expr_stride(const struct dh_expr *e)
{
    return e->c & ~DH_EXPR_BOUNDED;
}
/* The object that an address points into: without indices. */
uint32_t dh_expr_base(const struct dh_value_numbering *x, uint32_t expr);
/* The leaf at the bottom of loads and indices. */
uint32_t dh_expr_root(const struct dh_value_numbering *x, uint32_t expr);

#endif
