/* Accesses that can take part in an atomicity violation as the consistency detector reports it
 * (detect/consistency.h), and functions that can execute such accesses. Layer: analysis.
 * Between two accesses of one scope no acquire orders the thread after others, so what is interleaved races with the
 * second: bytes that no unordered pair accesses are never interleaved. What is left is STALE: read in one critical
 * section, written in a later one of the same call without being read again. */
#ifndef DH_ANALYSIS_INTERLEAVABLE_H
#define DH_ANALYSIS_INTERLEAVABLE_H

#include "analysis/symex.h"

/* By event of the symbolic execution: may its bytes be interleaved? `unsafe`: by event, not proven to be ordered
 * with all others. Owned by the caller. */
uint8_t *dh_find_interleavable(struct dh_symex *w, const uint8_t *unsafe);

/* Adds to each function's bits those of all functions it calls. */
void dh_spread_to_callers(const struct dh_call_graph *calls, uint8_t *of_function);

#endif
