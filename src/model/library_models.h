/* Models of library functions: their effects, read from data/models/effects and files of the user. Layer: model.
 * Grammar and meaning: docs/formats/models.md. The models own all their strings. Read-only once read. */
#ifndef DH_MODEL_LIBRARY_MODELS_H
#define DH_MODEL_LIBRARY_MODELS_H

#include "base/vec.h"
#include "host/err.h"

#include <stdbool.h>
#include <stdint.h>

enum dh_model_expr_kind {
    DH_MODEL_EXPR_ARGUMENT, /* number */
    DH_MODEL_EXPR_INT,
    DH_MODEL_EXPR_DATA,
    DH_MODEL_EXPR_UNKNOWN,
    DH_MODEL_EXPR_RESULT, /* what `ret =` gave before */
    DH_MODEL_EXPR_HIDDEN, /* address of an internal variable of the library: text; `tls` */
    DH_MODEL_EXPR_GLOBAL, /* address of a variable that the program can name, too: text */
    DH_MODEL_EXPR_LOAD,   /* load from child */
    DH_MODEL_EXPR_ADD,    /* child + number bytes */
    DH_MODEL_EXPR_NEW     /* a fresh object of child bytes; `zeroed` */
};

struct dh_model_expr {
    uint8_t kind;
    bool tls, zeroed;
    uint32_t child;
    uint32_t text; /* in strings */
    int64_t number;
};

enum dh_effect_kind {
    DH_EFFECT_INST,       /* an instruction of the abstract program, operands as given */
    DH_EFFECT_RESULT,     /* returns the value */
    DH_EFFECT_STORE,      /* address, value */
    DH_EFFECT_COPY,       /* to, from, length or none */
    DH_EFFECT_SET,        /* to, value, length or none */
    DH_EFFECT_READ,       /* address, length or none */
    DH_EFFECT_WRITE,      /* address, length or none */
    DH_EFFECT_READ_FROM,  /* every pointer from argument `number` on */
    DH_EFFECT_WRITE_FROM, /* every pointer from argument `number` on */
    DH_EFFECT_CALL,       /* once: callee, arguments */
    DH_EFFECT_CALLS,      /* any number of times: callee, arguments */
    DH_EFFECT_ONCE,       /* control, callee, arguments */
    DH_EFFECT_FOREIGN,    /* unknown code gets these */
    DH_EFFECT_THROWS,
    DH_EFFECT_STOPS,
    DH_EFFECT_FOLD,           /* the result is that constant: branches on it are folded */
    DH_EFFECT_OVERRIDES_BODY, /* replaces a body in the program */
    DH_EFFECT_APPROXIMATE     /* an approximation: proofs prefer a body in the program */
};

struct dh_effect {
    uint8_t kind;  /* dh_effect_kind */
    uint8_t op;    /* dh_inst_op */
    uint8_t flags; /* dh_inst_flag */
    uint8_t order; /* dh_order */
    uint32_t extra;
    uint32_t expr, n_exprs; /* in `roots` */
    int64_t number;
};

struct dh_library_function {
    uint32_t name;   /* in strings */
    uint32_t length; /* of the part that must be equal */
    bool prefix;     /* of the function name */
    bool instead, loosely;
    uint32_t effect, n_effects;
};

struct dh_library_models {
    DH_VEC(struct dh_library_function) functions; /* sorted by dh_models_sort; later ones hide earlier ones */
    DH_VEC(struct dh_effect) effects;
    DH_VEC(struct dh_model_expr) exprs;
    DH_VEC(uint32_t) roots; /* exprs that effects begin with */
    DH_VEC(char) strings;
    DH_VEC(uint32_t) prefixes; /* functions matched by prefix, longest first */
};

/* Reads the built-in models. */
void dh_library_models_init(struct dh_library_models *m);
/* Reads more models; a later one replaces an earlier one of the same name. Messages name the line. */
bool dh_library_models_read(struct dh_library_models *m, const char *name, const char *text, struct dh_err *err);
void dh_library_models_release(struct dh_library_models *m);
/* NULL: there is no model. */
const struct dh_library_function *dh_library_models_find(const struct dh_library_models *m, const char *name);

static inline const char *dh_library_models_string(const struct dh_library_models *m, uint32_t at)
{
    return &m->strings.at[at];
}

#endif
