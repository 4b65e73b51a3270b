/* Groups of racy variables whose reads may be stale together. Layer: classify. */
#ifndef DH_CLASSIFY_VARIABLE_GROUPS_H
#define DH_CLASSIFY_VARIABLE_GROUPS_H

#include "classify/racy_variables.h"

/* The variables with `in`, as one; released by the caller. `places`: size of their marks. */
struct dh_racy_variable dh_racy_variable_group(const struct dh_racy_variables *v, const bool *in, uint32_t places);

#endif
