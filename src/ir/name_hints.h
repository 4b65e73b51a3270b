/* Metadata that keeps source names across linking and SROA. Layer: ir. Needs: a module as the compiler made it, before
 * linking, debug intrinsics in the old format. Provides: !dh.via on accesses (the local pointer variable the address
 * was loaded from) and !dh.record on address computations (which record: linking merges records of one layout).
 * dh_ir_number_sites reads and removes both. Optional: without it, names are chosen by type and distance. */
#ifndef DH_IR_NAME_HINTS_H
#define DH_IR_NAME_HINTS_H

#include <llvm-c/Core.h>

void dh_ir_add_name_hints(LLVMModuleRef m);
/* Makes the methods of std::atomic always_inline, so that each atomic operation becomes a site of the code that
 * uses it. Takes effect with the next always-inline pass. */
void dh_ir_inline_atomics(LLVMModuleRef m);

#endif
