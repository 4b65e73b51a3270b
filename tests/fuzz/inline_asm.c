/* Texts of inline assembly, which are read for what they do. */
#include "instrument/inline_asm.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    static const char clobbers[] = "~{memory}";
    LLVMContextRef c = LLVMContextCreate();
    LLVMModuleRef m = LLVMModuleCreateWithNameInContext("m", c);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c), NULL, 0, 0);
    LLVMValueRef f = LLVMAddFunction(m, "f", type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c, f, ""));
    char *text = malloc(n ? n : 1);
    memcpy(text, input, n);
    LLVMValueRef assembly =
        LLVMGetInlineAsm(type, text, n, clobbers, strlen(clobbers), 1, 0, LLVMInlineAsmDialectATT, 0);
    free(text);
    if (dh_inline_asm_effect(LLVMBuildCall2(b, type, assembly, NULL, 0, "")) > DH_INLINE_ASM_UNKNOWN)
        abort();
    LLVMDisposeBuilder(b);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    return 0;
}
