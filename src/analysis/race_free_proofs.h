/* Which accesses need not be watched, by proofs alone. Layer: analysis.
 * Customs and guesses that keep a report short count for nothing here: what a detector could find with everything
 * watched, it finds without the accesses called safe. Where the program does what the analysis does not follow, nothing
 * is safe, and `gave_up` says why. Owned by the caller. */
#ifndef DH_ANALYSIS_RACE_FREE_PROOFS_H
#define DH_ANALYSIS_RACE_FREE_PROOFS_H

#include "analysis/function_clones.h"

enum dh_safety {
    DH_SAFE_RACE = 1 << 0,    /* never one of two conflicting accesses that nothing orders */
    DH_SAFE_PRIVATE = 1 << 1, /* only one thread ever gets at what it accesses, or nobody writes there */
    DH_SAFE_ORDERED = 1 << 2, /* as RACE, but what it accesses may have been freed before */
    DH_SAFE_UNIT = 1 << 3,    /* no part of what the consistency detector tells of (interleave.h) */
    /* Of the row of a function: none of the accesses it may have under way, its callees' too, is without UNIT; leaving
     * elements of arrays aside. */
    DH_SAFE_SCOPE = 1 << 4,
    DH_SAFE_SCOPE_NO_ARRAYS = 1 << 5
};

struct dh_safe {
    uint8_t *of_site; /* dh_safety, by row of the site table; then the same for each copy of a function */
    uint32_t n_sites;
    uint32_t accesses, race, private; /* sites that are plain accesses, and how many of them are safe */
    uint32_t unit;                    /* of them without any part in what the consistency detector tells */
    char gave_up[120];                /* "" = no */
};

/* One more "argument" for tests: whatever a copy does is safe, whoever calls it. */
#define DH_SAFE_TRUSTS_COPIES (1ull << 63)

struct dh_safe_question {
    uint32_t n_sites;
    const uint8_t *elements; /* by site: it accesses an element of an array; NULL: nobody can tell */
    uint64_t also; /* arguments (bits by dh_argument) to be trusted besides those that are proofs: for tests that must
            see a wrong one caught */
    /* Copies that may pay, NULL: nobody asks; which functions can be copied; calls with sites from n_sites on can be
     * redirected. */
    struct dh_special *special;
    const uint8_t *copyable;
    /* The program has copies already: by function its number, 0 = it is an original. NULL: it has none. */
    const uint32_t *copies;
    uint32_t n_copies;
};

/* `p`: read strictly (ir/model_reader.h). */
void dh_safe_find(struct dh_safe *s, const struct dh_program *p, const struct dh_safe_question *q);
/* Functions of the C++ library that programs have copies of; libraries may call these on what they were given, so they
 * stay watched, but they do nothing else. */
bool dh_safe_is_standard(const char *name);
/* The bit of an argument by its name in arguments.def, or of "COPIES"; 0: there is none. */
uint64_t dh_safe_argument(const char *name, size_t n);
void dh_safe_release(struct dh_safe *s);

#endif
