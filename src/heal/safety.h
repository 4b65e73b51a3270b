/* Whether a policy could make a program hang: an interprocedural data-flow analysis of which locks and sections may be
 * held where, over the module with the policy's hooks, and cycles in the lock order graph that it gives (GoodLock).
 * Layer: heal (LLVM, in a child). May-analysis: a risk is on some path, which need not be feasible. */
#ifndef DH_HEAL_SAFETY_H
#define DH_HEAL_SAFETY_H

#include "base/vec.h"
#include "host/err.h"

enum { DH_HEAL_SECTIONS = 256 }; /* of a policy that can be checked */

enum dh_heal_risk_kind {
    DH_RISK_CYCLE,   /* a cycle of the lock order graph through the lock of the group */
    DH_RISK_WAIT,    /* a section waits for other threads, which ends it there */
    DH_RISK_BLOCKS,  /* a call that may block, with the lock held */
    DH_RISK_SPINS,   /* a section has a loop that waits for another thread's write */
    DH_RISK_OUTSIDE, /* uninstrumented code may access the group's variables: no lock keeps it out */
    DH_RISK_KINDS,
    /* No risk: a function that acquires a lock and then enters the group; its name is the text. As a section, it would
     * enter first. */
    DH_RISK_FUNCTION,
    /* None: a section that was entered under a lock of the program goes on after its release and acquires another. */
    DH_RISK_SPANS,
    DH_RISK_NEIGHBOUR, /* none: another group of a cycle with this one, by name; one lock for both has no cycle */
    DH_RISK_BY_OBJECT  /* none: the group has a lock for each object */
};

struct dh_heal_risk {
    enum dh_heal_risk_kind kind;
    char *group, *text;
    char *section; /* that waits or blocks, or "" */
};

struct dh_heal_risks {
    DH_VEC(struct dh_heal_risk) at;
};

/* False when the analysis failed. Released by the caller. */
bool dh_heal_safety(const char *program, const char *policy, size_t n, struct dh_heal_risks *out, struct dh_err *err);
void dh_heal_risks_release(struct dh_heal_risks *r);

#endif
