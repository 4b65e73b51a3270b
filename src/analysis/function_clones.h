/* Function clones for calling contexts (003 §7.3, specialisation). Layer: analysis.
 * Where the accesses of a function are race free in some contexts and not in others, the former may call a clone of it.
 * This only chooses what may pay, by an estimate; what is safe in a clone is proven anew, of the program that has it.
 * Owned by the caller. */
#ifndef DH_ANALYSIS_FUNCTION_CLONES_H
#define DH_ANALYSIS_FUNCTION_CLONES_H

#include "analysis/symex.h"

enum { DH_CLONES_MAX = 192 }; /* at most */

/* Calls of `call` (as dh_inst.site numbers it) in clone `caller`, 0: in the original, go to a clone. */
struct dh_clone_redirect {
    uint32_t caller, call, copy; /* clones count from 1 */
};

struct dh_function_clones {
    DH_VEC(uint32_t) copies; /* the function cloned */
    DH_VEC(struct dh_clone_redirect) redirects;
};

struct dh_clone_query {
    struct dh_symex *symex;  /* with its contexts */
    const uint8_t *racy;     /* by event */
    const uint8_t *open;     /* by function: unknown code may call it, and there nothing in it is safe */
    const uint8_t *accesses; /* by instruction: it is one that could be safe */
    const uint8_t *copyable; /* by function */
    uint32_t first_call;     /* calls that can be redirected have numbers from here on */
    bool reckless;           /* for a test that must see it caught: a call that may lead to a copy always does */
};

void dh_function_clones_choose(struct dh_function_clones *s, const struct dh_clone_query *q);
void dh_function_clones_release(struct dh_function_clones *s);

#endif
