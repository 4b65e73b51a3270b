/* Whether a policy could make a program hang: its hooks are placed into the program's module, and what may be held
 * where is followed through it. Layer: heal (LLVM, in a child). Says what may happen on some path, not what does. */
#ifndef DH_HEAL_SAFETY_H
#define DH_HEAL_SAFETY_H

#include "base/vec.h"
#include "host/err.h"

enum dh_heal_risk_kind {
    DH_RISK_CYCLE,   /* the lock of the group and others in a circle */
    DH_RISK_WAIT,    /* a wait for other threads in a section, at which it would be over */
    DH_RISK_BLOCKS,  /* a call that may block, with the lock held */
    DH_RISK_SPINS,   /* a loop that waits for what others write */
    DH_RISK_OUTSIDE, /* code without hooks comes to the group's variables: no lock keeps it out */
    DH_RISK_KINDS,
    /* No risk: a function that takes a lock and then comes to the group. As a section, it would do so in the other
     * order; its name is the text. */
    DH_RISK_FUNCTION,
    DH_RISK_NEIGHBOUR, /* none: another group in a circle with this one, by name; one lock for both has no circle */
    DH_RISK_BY_OBJECT  /* none either: the group has a lock for each object */
};

struct dh_heal_risk {
    enum dh_heal_risk_kind kind;
    char *group, *text;
    char *section; /* that waits or blocks, or "" */
};

struct dh_heal_risks {
    DH_VEC(struct dh_heal_risk) at;
};

/* False when it could not be found out. Released by the caller. */
bool dh_heal_safety(const char *program, const char *policy, size_t n, struct dh_heal_risks *out, struct dh_err *err);
void dh_heal_risks_release(struct dh_heal_risks *r);

#endif
