/* Barriers made by hand of a lock, a count and a condition. Layer: analysis. By custom: who completes the count wakes
 * all others, who does not waits. */
#ifndef DH_ANALYSIS_CONDITION_BARRIERS_H
#define DH_ANALYSIS_CONDITION_BARRIERS_H

#include "analysis/symex_internal.h"

/* Callees' facts must be known. */
bool dh_is_condition_barrier(struct dh_symex *w, uint32_t function);

#endif
