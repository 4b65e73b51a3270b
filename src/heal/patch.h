/* A suggested patch of the source: a mutex around a group's sections. Layer: heal. Only where a section is
 * a range of lines of one function without an exit in between; for people to read, never applied by the tool. */
#ifndef DH_HEAL_PATCH_H
#define DH_HEAL_PATCH_H

#include "heal/policy.h"

/* A unified diff for all groups that are healed by a lock, "" when there is none; `why` gets a line for each group that
 * is left out. Both owned by the caller. */
char *dh_patch_make(const struct dh_draft *d, char **why);

#endif
