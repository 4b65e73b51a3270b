/* System calls on memory: mmap, munmap, mremap, mprotect, madvise, brk, undone after the schedule. Layer: runtime.
 * Addresses are not reused within a schedule, or what was accessed there is forgotten. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_MEMORY_H
#define DH_RUNTIME_ENGINE_SYSTEM_MEMORY_H

#include "runtime/engine/engine.h"

/* At the snapshot. */
void dh_mappings_begin(void);
/* When a schedule is undone. */
void dh_mappings_restore(void);

/* Each returns what the kernel would. */
long dh_mappings_map(long number, const long a[6]);
long dh_mappings_unmap(long number, const long a[6]);
long dh_mappings_remap(long number, const long a[6]);
long dh_mappings_protect(long number, const long a[6]);
long dh_mappings_advise(long number, const long a[6]);
long dh_mappings_brk(long number, const long a[6]);

#endif
