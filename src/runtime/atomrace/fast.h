/* AtomRace's fast path: a read during which no write is active and none happens (as in a seqlock). Layer: runtime; also
 * compiled into the inline checks. */
#ifndef DH_RUNTIME_ATOMRACE_FAST_H
#define DH_RUNTIME_ATOMRACE_FAST_H

#include "detect/atomrace.h"

/* Result of `before` if the access did not take the fast path; no cell has this value. */
#define DH_ATOM_SLOW (~(uint64_t)0)

extern struct dh_atom_table dh_atom_writes __attribute__((visibility("hidden")));

uint64_t dh_atom_before_slow(void *addr, uint64_t what, uint32_t spot, uint32_t place);
void dh_atom_after_slow(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place);

#endif
