/* Functions from which a hook may be reached in the call graph: those whose frames a report can show. Layer:
 * instrument. */
#ifndef DH_INSTRUMENT_HOOK_CALLERS_H
#define DH_INSTRUMENT_HOOK_CALLERS_H

#include "base/set.h"

#include <llvm-c/Core.h>

/* Adds every function that calls a hook that takes a place, calls one of them, or may do so through a pointer. */
void dh_hook_callers_find(LLVMModuleRef m, struct dh_u64_set *out);

#endif
