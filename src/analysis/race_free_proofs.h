/* Sparse instrumentation (003 ch. 7): which accesses need no check, by proofs alone. Layer: analysis.
 * Heuristics count for nothing here: what a detector can find when everything is checked, it finds without the accesses
 * called safe. Where the program does what the analysis does not model, nothing is safe, and `gave_up` says why. Owned
 * by the caller. */
#ifndef DH_ANALYSIS_RACE_FREE_PROOFS_H
#define DH_ANALYSIS_RACE_FREE_PROOFS_H

#include "analysis/function_clones.h"

enum dh_access_proof {
    DH_PROVEN_RACE_FREE = 1 << 0,  /* never one of two conflicting accesses that are unordered */
    DH_PROVEN_PRIVATE = 1 << 1,    /* thread-confined, or never written */
    DH_PROVEN_ORDERED = 1 << 2,    /* as RACE_FREE, but the object may have been freed before */
    DH_PROVEN_CONSISTENT = 1 << 3, /* no part of any object inconsistency (interleavable.h) */
    /* Of the row of a function: all accesses of its scope, those of callees too, are CONSISTENT; or all but elements of
     * arrays. */
    DH_PROVEN_SCOPE = 1 << 4,
    DH_PROVEN_SCOPE_NO_ARRAYS = 1 << 5
};

struct dh_race_free {
    uint8_t *of_site; /* dh_access_proof, by row of the site table; then the same for each copy of a function */
    uint32_t n_sites;
    uint32_t accesses, race, private; /* sites that are plain accesses, and how many of them are safe */
    uint32_t consistent;              /* of them: CONSISTENT */
    char gave_up[120];                /* "" = no */
};

/* One more "argument", for mutants in tests: whatever a clone accesses is race free in every context. */
#define DH_PROOF_TRUSTS_CLONES (1ull << 63)

struct dh_race_free_query {
    uint32_t n_sites;
    const uint8_t *elements; /* by site: it accesses an element of an array; NULL: not known */
    uint64_t also; /* arguments (bits by dh_argument) trusted besides those that are proofs: mutants, which tests must
                      catch */
    /* Out: clones that may pay, may be NULL. In: which functions can be cloned; calls with sites from n_sites on can be
     * redirected. */
    struct dh_function_clones *clones;
    const uint8_t *copyable;
    /* The program has clones already: by function the number of the clone, 0 = an original. NULL: it has none. */
    const uint32_t *copies;
    uint32_t n_copies;
};

/* `p`: read strictly (ir/model_reader.h). */
void dh_race_free_find(struct dh_race_free *s, const struct dh_program *p, const struct dh_race_free_query *q);
/* The bit of an argument by its name in arguments.def, or of "COPIES"; 0: there is none. */
uint64_t dh_argument_bit(const char *name, size_t n);
void dh_race_free_release(struct dh_race_free *s);

#endif
