/* Numbers and names every site of a merged module. Layer: ir. Needs: module after SROA, debug intrinsics in the old
 * format (LLVMSetIsNewDbgInfoFormat(m, 0)). Provides: metadata !dh.site (one i32) on every numbered instruction; rows
 * in `b` in module order. */
#ifndef DH_IR_SITES_H
#define DH_IR_SITES_H

#include "event/site.h"
#include "host/err.h"

#include <llvm-c/Core.h>

#define DH_SITE_METADATA "dh.site"

bool dh_ir_number_sites(LLVMModuleRef m, struct dh_site_builder *b, struct dh_err *err);
/* The row of a function itself (DH_OP_FUNCTION): rows of functions follow all others, so that these keep their numbers.
 * DH_NO_SITE for functions that were added later. */
uint32_t dh_ir_function_site(LLVMValueRef function);
/* Site of a tagged instruction, DH_NO_SITE when it carries none. */
uint32_t dh_ir_site_of(LLVMValueRef instruction);
/* LLVM's order in our terms. */
enum dh_order dh_ir_order(LLVMAtomicOrdering order);

#endif
