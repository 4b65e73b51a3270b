/* Synchronisation made of atomics, as the walk sees it: which atomics the program writes and in which order, what
 * branches that look at them tell. Layer: analysis. By custom only. Owns its storage. */
#ifndef DH_ANALYSIS_ATOMIC_SYNC_H
#define DH_ANALYSIS_ATOMIC_SYNC_H

#include "analysis/symex_internal.h"

/* First and last of the uses of a place. */
uint32_t dh_made_first(const struct dh_made *m, struct dh_cell at);
bool dh_made_is_at(const struct dh_made *m, uint32_t n, struct dh_cell at);
/* Somebody stores there without an atomic operation when others may look. */
bool dh_made_is_plain(const struct dh_made *m, struct dh_cell at);

void dh_made_init(struct dh_made *m, struct dh_walk *w);
void dh_made_release(struct dh_made *m);
/* Between the two times. */
void dh_made_learn(struct dh_made *m);

#endif
