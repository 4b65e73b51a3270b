/* Makes the implicit copies of byval arguments explicit. Layer: ir. Needs: a module that is not numbered yet. Provides:
 * a memcpy before each call that passes a struct by value in memory, so that the read of the original is a site even
 * after inlining. Originals on the caller's own stack are left out. */
#ifndef DH_IR_BYVAL_COPIES_H
#define DH_IR_BYVAL_COPIES_H

#include <llvm-c/Core.h>

void dh_ir_materialise_byval_copies(LLVMModuleRef m);

#endif
