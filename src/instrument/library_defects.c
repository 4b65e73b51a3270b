#include "instrument/library_defects.h"

#include "base/str.h"

#include <string.h>

enum { ACQ_REL = 4 }; /* std::memory_order_acq_rel */

static bool unlocks_shared_pointer(LLVMValueRef f)
{
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    return dh_starts_with(name, "_ZNKSt10_Sp_atomicI") &&
           dh_ends_with(name, "13_Atomic_count6unlockESt12memory_order") && LLVMCountParams(f) == 2;
}

void dh_library_defects_mend(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && unlocks_shared_pointer(f)) {
            LLVMValueRef order = LLVMGetParam(f, 1);
            LLVMReplaceAllUsesWith(order, LLVMConstInt(LLVMTypeOf(order), ACQ_REL, false));
        }
}
