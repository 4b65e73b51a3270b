/* For functions that allocate by way of malloc: the call that counts is theirs. Layer: runtime. Per thread; what is
 * announced holds for the next allocation. */
#ifndef DH_RUNTIME_INTERPOSE_ALLOC_H
#define DH_RUNTIME_INTERPOSE_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

void dh_alloc_announce(const uintptr_t *call_slot);
/* Afterwards. True when no malloc of ours was called. */
bool dh_alloc_withdraw(void);
/* The block is about to be freed: reports that, and `free` will not again. */
void dh_alloc_freeing(const void *at, const uintptr_t *call_slot);
void dh_alloc_freed(void);

#endif
