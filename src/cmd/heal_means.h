/* The strongest means that is safe, for every group of a draft. Layer: cmd. */
#ifndef DH_CMD_HEAL_MEANS_H
#define DH_CMD_HEAL_MEANS_H

#include "heal/policy.h"
#include "host/err.h"

/* `means` is auto, lock or schedule; `program` the file. What is not the strongest is said, if anybody is to be told.
 * False when it could not be found out. */
bool dh_heal_choose(struct dh_draft *d, const char *program, const char *means, bool tell, struct dh_err *err);

#endif
