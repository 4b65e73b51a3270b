/* Synchronisation made of atomics, as symbolic execution sees it: which atomics the program writes and in which
 * order, what branches that test them say of their values. Layer: analysis. A heuristic. Owns its storage. */
#ifndef DH_ANALYSIS_ATOMIC_SYNC_H
#define DH_ANALYSIS_ATOMIC_SYNC_H

#include "analysis/symex_internal.h"

/* First and last of the uses of a place. */
uint32_t dh_atomic_sync_first_use(const struct dh_atomic_sync *m, struct dh_heap_cell at);
bool dh_atomic_sync_is_use_of(const struct dh_atomic_sync *m, uint32_t n, struct dh_heap_cell at);
/* Somebody stores there without an atomic operation when others may look. */
bool dh_atomic_sync_has_plain_store(const struct dh_atomic_sync *m, struct dh_heap_cell at);

void dh_atomic_sync_init(struct dh_atomic_sync *m, struct dh_symex *w);
void dh_atomic_sync_release(struct dh_atomic_sync *m);
/* Between the two times. */
void dh_atomic_sync_index_uses(struct dh_atomic_sync *m);

#endif
