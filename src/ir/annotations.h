/* Translates source annotations to attributes and metadata. Layer: ir. Per translation unit, as the compiler made it.
 * Reads `annotate("deadheat...")`, which annotate.h and the compiler driver write, and removes it: unchecked functions
 * get DH_NO_CHECK_ATTRIBUTE, accesses to guarded variables a call of __dh_guarded, and all is listed in the named
 * metadata DH_ANNOTATIONS_METADATA. Weak empty bodies of annotation functions, there for builds without a detector, are
 * dropped. */
#ifndef DH_IR_ANNOTATIONS_H
#define DH_IR_ANNOTATIONS_H

#include <llvm-c/Core.h>

#define DH_NO_CHECK_ATTRIBUTE "deadheat-no-check"
#define DH_ANNOTATIONS_METADATA "deadheat.annotations"

void dh_ir_read_annotations(LLVMModuleRef m);

#endif
