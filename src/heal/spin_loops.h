/* Loops that wait for another thread: they go round until a place in memory that they do not write has another value.
 * Layer: heal (LLVM). */
#ifndef DH_HEAL_SPIN_LOOPS_H
#define DH_HEAL_SPIN_LOOPS_H

#include "instrument/ptrmap.h"

#include <llvm-c/Core.h>

/* Adds the reads of the function that a loop waits for. */
void dh_find_spin_loops(LLVMValueRef function, struct dh_ptrmap *reads);

#endif
