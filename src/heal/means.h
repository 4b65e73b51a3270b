/* Which findings need healing, and the strongest safe means for every group of a draft. Layer: heal. */
#ifndef DH_HEAL_MEANS_H
#define DH_HEAL_MEANS_H

#include "heal/policy.h"
#include "host/err.h"

/* A search found no failure. Where the program had to run freely, that is too weak. */
bool dh_heal_is_needless(const struct dh_finding *f);

/* `means` is auto, lock or schedule; `program` the file. `notes`: a notice for each group that does not get the
 * strongest. False when safety could not be checked. */
bool dh_heal_choose(struct dh_draft *d, const char *program, const char *means, bool notes, struct dh_err *err);

#endif
