/* AtomRace's quick way: a read whose word says that nobody writes, and says the same afterwards. Layer: runtime; also
 * compiled into the inline parts. */
#ifndef DH_RUNTIME_ATOMRACE_FAST_H
#define DH_RUNTIME_ATOMRACE_FAST_H

#include "detect/atomrace.h"

/* What `before` answers when it did not take the quick way; no cell says that. */
#define DH_ATOM_SLOW (~(uint64_t)0)

extern struct dh_atom_table dh_atom_writes __attribute__((visibility("hidden")));

uint64_t dh_atom_before_slow(void *addr, uint64_t what, uint32_t spot, uint32_t place);
void dh_atom_after_slow(void *addr, uint64_t what, uint64_t token, uint32_t spot, uint32_t place);

#endif
