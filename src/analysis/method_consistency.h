/* Method consistency (003 ch. 5): functions whose accesses another thread can interleave wrongly. Layer: analysis.
 * Needs the events of symbolic execution. Not the chapter's chains of views, most of whose reports are intended, but
 * what makes them wrong: an access depends on an earlier read, no lock is held from one to the other that the writer in
 * between needs, and the three are not serialisable. Instances and elements are distinguished. `wide` includes reads
 * whose value is not used later: the chapter's own definition. */
#ifndef DH_ANALYSIS_METHOD_CONSISTENCY_H
#define DH_ANALYSIS_METHOD_CONSISTENCY_H

#include "analysis/symex.h"

/* The worst first. */
enum dh_violation_kind {
    DH_VIOLATION_LOST_UPDATE,       /* read, then written with what was computed from it */
    DH_VIOLATION_CHECK_THEN_SET,    /* tested, then written */
    DH_VIOLATION_CHECK_THEN_USE,    /* tested, then read again and used */
    DH_VIOLATION_UNREPEATABLE_READ, /* read, and compared or computed with another read of the same */
    DH_VIOLATION_CHECK_THEN_ACT,    /* one variable tested, then another that belongs to it accessed */
    DH_VIOLATION_TORN_READ, /* two fields read between two reads of a version, which no fence keeps after them */
    DH_VIOLATION_SPLIT,     /* wide: accessed in two sections */
    DH_VIOLATION_NEIGHBOURS /* two accesses one after the other */
};

struct dh_violation {
    enum dh_violation_kind kind;
    uint32_t function;               /* the innermost one whose activation makes both accesses */
    uint32_t first, between, second; /* events */
    uint32_t also;                   /* PAIR: what comes between on the second's variable, DH_NONE */
    bool locked;                     /* each single access is in a critical section */
};

struct dh_inconsistencies {
    DH_VEC(struct dh_violation) found;
    DH_VEC(struct dh_violation) neighbours; /* on request: candidates of atomic sections (001 §2, AI invariants) */
    uint64_t n_views, n_steps, n_pairs;     /* examined */
    uint32_t n_functions;                   /* with two accesses to what others write */
    bool incomplete;                        /* some function was too large */
    uint32_t n_bodies, n_bodies_left;       /* functions; not looked at when the time limit was over */
};

struct dh_consistency_options {
    bool wide, neighbours;
    bool sequential; /* memory keeps the order of each thread */
};

void dh_inconsistencies_find(struct dh_inconsistencies *c, struct dh_symex *w,
                             const struct dh_consistency_options *how);
void dh_inconsistencies_release(struct dh_inconsistencies *c);

#endif
