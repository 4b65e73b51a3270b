/* Functions that are barriers made of atomics, by custom: whoever calls one says in order that it is there and waits
 * until others have said so. Layer: analysis. Counters with a sense or a generation, and one flag or count for each
 * thread. Who returns is in the next phase, as behind a barrier of a library. */
#ifndef DH_ANALYSIS_ATOMIC_BARRIERS_H
#define DH_ANALYSIS_ATOMIC_BARRIERS_H

#include "analysis/symex.h"

/* By function: is such a barrier. The caller frees it. */
uint8_t *dh_atomic_barriers_find(struct dh_symex *w);

#endif
