/* Tests of atomic variables: which load, exchange or compare-exchange the condition of a branch comes from, and what is
 * known of the value on each side. Layer: analysis. Followed through arithmetic and results of calls; an answer does
 * not depend on the calling context. Owns its storage. */
#ifndef DH_ANALYSIS_ATOMIC_TESTS_H
#define DH_ANALYSIS_ATOMIC_TESTS_H

#include "analysis/symex.h"
#include "analysis/value_numbering.h"

enum { DH_ATOMIC_TESTS_MAX = 3 };

/* On one side of a branch. */
struct dh_atomic_test {
    uint32_t inst, function; /* the atomic operation, and the function it is in */
    struct dh_term at;       /* address, as a term of the branch's function */
    struct dh_value_test {
        uint8_t relation; /* dh_compare: the value is ... than `number` */
        bool known;       /* the number is a constant */
        int64_t number;
    } test;
    dh_value other; /* not known: what it is compared with, in the function that compares */
    bool in_one;    /* ... which is the function of the operation */
    bool done;      /* a compare-exchange: it stored */
    bool acquires;  /* what was written before the value was stored is visible after it */
};

struct dh_atomic_tests {
    struct dh_symex *symex;
    uint32_t *of; /* by instruction: 0 = not asked yet, 1 = nothing, else the place of both sides in `all`, + 2 */
    DH_VEC(struct dh_branch_tests) all;
    DH_VEC(struct dh_stored_test) kept;
    uint8_t *has; /* by function: 0 = not asked yet, 1 = no acquire load, 2 = some */
};

/* A plain load of a variable that caches what an atomic load found earlier. */
struct dh_stored_test {
    uint32_t load, test;
};

struct dh_branch_tests {
    uint8_t n[2]; /* the side on which the condition holds comes first */
    struct dh_atomic_test at[2][DH_ATOMIC_TESTS_MAX];
};

void dh_atomic_tests_init(struct dh_atomic_tests *l, struct dh_symex *w);
void dh_atomic_tests_release(struct dh_atomic_tests *l);
/* Of a branch of the function, NULL: it tests no atomics. Valid until the next call. */
const struct dh_branch_tests *dh_atomic_tests_of_branch(struct dh_atomic_tests *l, uint32_t function, uint32_t branch);

/* Release semantics: by its own order, or by a fence on all paths to it. */
bool dh_atomic_releases(struct dh_symex *w, uint32_t function, uint32_t inst);
/* The instruction that computes a value, through copies; DH_NONE: a parameter or a constant. */
uint32_t dh_value_definition(struct dh_symex *w, uint32_t function, dh_value v);
/* For a b: what holds where the comparison fails; the same comparison as b a; whether it holds. DH_CMP_OTHER may. */
enum dh_compare dh_compare_negate(enum dh_compare c);
enum dh_compare dh_compare_mirror(enum dh_compare c);
bool dh_compare_holds(int64_t value, enum dh_compare relation, int64_t number);
bool dh_value_test_holds(const struct dh_value_test *t, int64_t value);

#endif
