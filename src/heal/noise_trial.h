/* Runs of a program under noise without a policy and with it, in turn: how a policy is verified where the program
 * cannot be searched. Layer: heal. Runs are children. */
#ifndef DH_HEAL_NOISE_TRIAL_H
#define DH_HEAL_NOISE_TRIAL_H

#include "heal/verify.h"

struct dh_noise_trial {
    unsigned runs;          /* of each kind */
    unsigned before, after; /* failed: they ended otherwise than a run without noise, or not at all */
};

/* Delays are where the findings of the store are. As long as the budget says, with a least and a most number of runs.
 */
void dh_noise_trial_run(const struct dh_heal_verifying *v, const char *db, struct dh_noise_trial *out);
/* Whether nothing but the policy explains it: failures that were there are gone, by chance once in a hundred. */
bool dh_noise_trial_holds(const struct dh_noise_trial *t);

#endif
