/* Heuristic: barriers made of a mutex, a counter and a condition variable. The thread that completes the count
 * broadcasts, the others wait. Layer: analysis. */
#ifndef DH_ANALYSIS_CONDITION_BARRIERS_H
#define DH_ANALYSIS_CONDITION_BARRIERS_H

#include "analysis/symex_internal.h"

/* Needs the summaries of callees. */
bool dh_is_condition_barrier(struct dh_symex *w, uint32_t function);

#endif
