/* Data and control dependence (program slicing) of the accesses of a function: which earlier reads gave an access its
 * value or its address, or decided that it happens. Layer: analysis. Accesses of callees are expressed in terms of the
 * function; values are followed through arguments and results, not through memory. Bottom-up; summaries stay. */
#ifndef DH_ANALYSIS_DEPENDENCE_H
#define DH_ANALYSIS_DEPENDENCE_H

#include "analysis/held_locks.h"
#include "analysis/symex_internal.h"

enum { DH_SOURCES_MAX = 12 };

/* A set of sources: parameters by number, then the function's steps. */
struct dh_sources {
    uint16_t n;
    bool more; /* there were others */
    uint32_t at[DH_SOURCES_MAX];
};

enum dh_step_trait {
    DH_STEP_WRITES = 1 << 0,
    DH_STEP_ATOMIC = 1 << 1,
    DH_STEP_INDIVISIBLE = 1 << 2, /* half of a read-modify-write */
    DH_STEP_COMPARES = 1 << 3,    /* a write that happens only if nothing changed */
    DH_STEP_RETURNED = 1 << 4,    /* a read whose value the function returns */
    DH_STEP_CONSUMED = 1 << 5,    /* a read whose value is used as an address or an index without being tested */
    DH_STEP_REREAD = 1 << 6,      /* a write after a read of the same variable in one critical section */
    DH_STEP_CLAIMED = 1 << 7,     /* a read in a critical section that also writes the variable */
    DH_STEP_LOCKED = 1 << 8       /* in a critical section of the function or below */
};

/* One access that a call of the function may do. */
struct dh_dependent_access {
    uint32_t inst;  /* the access, here or in a callee */
    uint32_t point; /* this function's instruction: the access itself or the call */
    uint32_t traits;
    struct dh_term at;               /* address, as a term of this function */
    uint32_t data, control, mixed;   /* parameters as bits, of a finished function */
    struct dh_sources by_data;       /* value written, address */
    struct dh_sources by_control;    /* decided whether it happens */
    struct dh_sources by_comparison; /* reads: an operand of the same operation as these */
    struct dh_sources by_equality;   /* reads: compared for equality with these, as validation does */
};

/* What callers need of a function. */
struct dh_dependence_summary {
    DH_VEC(struct dh_dependent_access) steps;
    uint32_t returns; /* parameters that its result depends on */
};

struct dh_dependence {
    struct dh_symex *symex;
    const uint8_t *hot; /* by instruction: accesses that others may interfere with */
    struct dh_dependence_summary *functions;
    /* of the function at work */
    uint32_t function, n_params;
    DH_VEC(struct dh_dependent_access) steps;
    DH_VEC(uint32_t) step_of;            /* by instruction of the function: its first step, DH_NONE */
    DH_VEC(struct dh_sources) registers; /* what their values come from */
    DH_VEC(struct dh_sources) blocks;    /* what decided that control is there */
    DH_VEC(uint32_t) controls;           /* pairs: block, branch that decides about it */
    bool incomplete;                     /* a function was too large to analyse fully */
};

void dh_dependence_init(struct dh_dependence *r, struct dh_symex *w, const uint8_t *hot);
void dh_dependence_release(struct dh_dependence *r);
/* Accesses of a function with all their sources; valid until the next call. */
void dh_dependence_analyse(struct dh_dependence *r, uint32_t function);
/* Keeps the summary of the function at work for its callers. */
void dh_dependence_keep_summary(struct dh_dependence *r);

bool dh_sources_have(const struct dh_sources *s, uint32_t source);

#endif
