/* A suggestion how to mend the source: a mutex around what a group's sections are. Layer: heal. Only where that is a
 * matter of lines of one function, without a way out in between; to read, never applied by the tool. */
#ifndef DH_HEAL_PATCH_H
#define DH_HEAL_PATCH_H

#include "heal/policy.h"

/* A unified diff for all groups that are healed by a lock, "" when there is none; `why` gets a line for each group that
 * is left out. Both owned by the caller. */
char *dh_patch_make(const struct dh_draft *d, char **why);

#endif
