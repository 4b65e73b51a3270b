/* Spin loops: loops whose condition depends on memory that they do not write, so that only another thread can end them.
 * Layer: heal (LLVM). */
#ifndef DH_HEAL_SPIN_LOOPS_H
#define DH_HEAL_SPIN_LOOPS_H

#include "base/map.h"

#include <llvm-c/Core.h>

/* Adds the reads of the function that a spin loop waits for. */
void dh_find_spin_loops(LLVMValueRef function, struct dh_u64_map *reads);

#endif
