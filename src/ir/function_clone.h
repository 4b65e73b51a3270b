/* Clones functions within a module. Layer: ir. A clone has the body, attributes and tags of its original, internal
 * linkage, and a subprogram of its own with the same name and line, so that reports and debuggers show the name of the
 * source. Local variables have no debug information in it. Needs: debug intrinsics in the old format. */
#ifndef DH_IR_FUNCTION_CLONE_H
#define DH_IR_FUNCTION_CLONE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* False: it contains something that must not be duplicated or that LLVM's C interface cannot copy. */
bool dh_ir_can_clone(LLVMValueRef function);
LLVMValueRef dh_ir_clone(LLVMValueRef function, const char *name);

#endif
