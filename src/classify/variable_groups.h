/* Variables that are in doubt together. Layer: classify. */
#ifndef DH_CLASSIFY_VARIABLE_GROUPS_H
#define DH_CLASSIFY_VARIABLE_GROUPS_H

#include "classify/racy_variables.h"

/* One variable made of those that `in` has a true for; released by the caller. `places` is what a place per byte of
 * marks asks for. */
struct dh_racy_variable dh_racy_variable_group(const struct dh_racy_variables *v, const bool *in, uint32_t places);

#endif
