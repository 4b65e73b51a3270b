/* What the source says in attributes, made into what later stages understand. Layer: ir. Per unit, while it is as the
 * compiler made it. Reads the attribute `annotate("deadheat...")`, which annotate.h and the compiler driver write, and
 * takes it out of the way: functions that are not to be checked get DH_NO_CHECK_ATTRIBUTE, accesses to what a lock
 * guards a call of __dh_guarded, and everything is listed in the named metadata DH_ANNOTATIONS_METADATA. Bodies that
 * programs give to annotation functions for want of a detector (weak, empty) are dropped. */
#ifndef DH_IR_ANNOTATIONS_H
#define DH_IR_ANNOTATIONS_H

#include <llvm-c/Core.h>

#define DH_NO_CHECK_ATTRIBUTE "deadheat-no-check"
#define DH_ANNOTATIONS_METADATA "deadheat.annotations"

void dh_ir_read_annotations(LLVMModuleRef m);

#endif
