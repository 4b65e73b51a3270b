/* What is certain of a location's modification order: a partial order of its writes, kept closed, in which an update
 * and the write it read stand together (a chain), so that nothing can come between. Any way to continue it is one that
 * coherence and atomicity allow. Layer: memory. Sets are of indices, at most 64. */
#ifndef DH_MEMORY_MODIFICATION_ORDER_H
#define DH_MEMORY_MODIFICATION_ORDER_H

#include "memory/locations.h"

static inline bool dh_mo_is_before(const struct dh_location *at, uint32_t i, uint32_t j)
{
    return at->write[j]->before >> i & 1;
}

/* Write i precedes j, which is not in its chain and does not precede it. */
void dh_mo_add(struct dh_location *at, uint32_t i, uint32_t j);
/* The last write has updated i: it joins its chain. */
void dh_mo_chain(struct dh_location *at, uint32_t i);
/* Sets `trial` to an order that continues this one and is like that of `rank` otherwise. */
void dh_mo_linearise(struct dh_location *at);
/* Drops a write that is not the newest from location and order; the others keep what is known of them. */
void dh_mo_drop(struct dh_locations *l, struct dh_location *at, uint32_t index);

#endif
