/* Runs of a program under noise without a policy and with it, in turn: what healing rests on where the program cannot
 * be searched. Layer: cmd; runs this tool itself. */
#ifndef DH_HEAL_TRIAL_H
#define DH_HEAL_TRIAL_H

#include "heal/verify.h"

struct dh_heal_trial {
    unsigned runs;          /* of each kind */
    unsigned before, after; /* failed: they ended otherwise than a run without noise, or not at all */
};

/* Delays are where the findings of the store are. As long as the budget says, with a least and a most number of runs.
 */
bool dh_heal_try_runs(const struct dh_heal_verifying *v, const char *db, struct dh_heal_trial *out, struct dh_err *err);
/* Whether nothing but the policy explains it: failures that were there are gone, by chance once in a hundred. */
bool dh_heal_trial_holds(const struct dh_heal_trial *t);

#endif
