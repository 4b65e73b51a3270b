/* run --heal=auto: whatever threads meet in is healed for the rest of the run (001 §2: healing on the fly). The program
 * is derived with a policy of what could be healed, of which nothing is in force before AtomRace tells of it; what was
 * is added to a policy at the end. Layer: cmd. Complains by itself. */
#ifndef DH_HEAL_AUTO_H
#define DH_HEAL_AUTO_H

#include <stdbool.h>

struct dh_heal_auto {
    char *folder, *candidates, *noted; /* files: what could be healed, and what was */
    const char *policy;                /* that it is added to */
};

#define DH_HEAL_AUTO_POLICY ".deadheat/auto.dhp"

/* The plan with the candidates, owned by the caller; NULL: it has complained. */
char *dh_heal_auto_begin(struct dh_heal_auto *a, const char *command, const char *plan, const char *program);
/* When the program has ended. */
void dh_heal_auto_end(struct dh_heal_auto *a, const char *command);

#endif
