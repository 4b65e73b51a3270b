/* Which accesses can take part in what the consistency detector tells of (detect/consistency.h), and which functions
 * can have such accesses under way. Layer: analysis.
 * Between two accesses of one unit nothing orders the thread behind others, so what comes between them races with the
 * second: bytes that no unordered pair touches are never interleaved. What is left is STALE: read in one critical
 * section, written in a later one of the same call without being looked at again. */
#ifndef DH_ANALYSIS_INTERLEAVABLE_H
#define DH_ANALYSIS_INTERLEAVABLE_H

#include "analysis/symex.h"

/* By event of the walk: may its bytes be interleaved? `unsafe`: by event, not proven to be ordered with all others. The
 * answer is owned by the caller. */
uint8_t *dh_find_interleavable(struct dh_symex *w, const uint8_t *unsafe);

/* Adds to each function's bits those of all functions it calls. */
void dh_spread_to_callers(const struct dh_call_graph *calls, uint8_t *of_function);

#endif
