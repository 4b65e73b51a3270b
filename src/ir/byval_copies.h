/* Arguments that are structures passed by value, in memory: the call itself copies them, and no instruction says so
 * until it is inlined, when nobody can tell any more what the copy was of. Layer: ir.
 * Needs: a module that is not numbered yet. Provides: the copy as an instruction of its own before the call, so that
 * it is a site as every other access; of what lies on the caller's stack nothing is said. */
#ifndef DH_IR_BYVAL_COPIES_H
#define DH_IR_BYVAL_COPIES_H

#include <llvm-c/Core.h>

void dh_ir_materialise_byval_copies(LLVMModuleRef m);

#endif
