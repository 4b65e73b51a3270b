/* run --heal=auto: a variable with a collision is healed for the rest of the run (001 §2: healing on the fly). The
 * variant has a policy of all variables that could be healed; a group is in force from AtomRace's first report of its
 * variable on, and is added to a policy file at the end. Layer: heal. */
#ifndef DH_HEAL_ON_THE_FLY_H
#define DH_HEAL_ON_THE_FLY_H

#include "host/err.h"

#include <stdbool.h>

struct dh_heal_auto {
    char *folder, *candidates, *noted; /* files: groups that could be healed, and names of those that were */
    const char *policy;                /* that they are added to */
};

#define DH_HEAL_AUTO_POLICY ".deadheat/auto.dhp"

/* The plan with the candidates, owned by the caller. */
char *dh_heal_auto_begin(struct dh_heal_auto *a, const char *command, const char *plan, const char *program,
                         struct dh_err *err);
/* When the program has ended: `added` groups went into a->policy. Releases a. */
bool dh_heal_auto_end(struct dh_heal_auto *a, unsigned *added, struct dh_err *err);

#endif
