/* Loops that wait for another thread: they go round until a place in memory that they do not write has another value.
 * Layer: driver (LLVM). */
#ifndef DH_DRIVER_HEAL_SPINS_H
#define DH_DRIVER_HEAL_SPINS_H

#include "base/map.h"

#include <llvm-c/Core.h>

/* Adds the reads of the function that a loop waits for. */
void dh_heal_find_spins(LLVMValueRef function, struct dh_u64_map *reads);

#endif
