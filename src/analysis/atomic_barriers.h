/* Heuristic: functions that are barriers made of atomics. A thread that calls one announces its arrival by a release
 * write and spins until others have arrived. Layer: analysis. Sense-reversing and generation counters, and one flag or
 * count for each thread. A thread that returns is in the next phase, as after a barrier of a library. */
#ifndef DH_ANALYSIS_ATOMIC_BARRIERS_H
#define DH_ANALYSIS_ATOMIC_BARRIERS_H

#include "analysis/symex.h"

/* By function: is such a barrier. The caller frees it. */
uint8_t *dh_atomic_barriers_find(struct dh_symex *w);

#endif
