/* Texts of annotations in a program that has every kind of them: the reader understands or leaves them, and the module
 * stays sound. FUZZ_ANNOTATED names its bitcode; what follows the colon of each annotation is the input. */
#include "ir/annotations.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static LLVMMemoryBufferRef program;

static void load(void)
{
    char *why = NULL;
    const char *path = getenv("FUZZ_ANNOTATED");
    if (!path || LLVMCreateMemoryBufferWithContentsOfFile(path, &program, &why))
        abort();
}

static void replace_text(LLVMContextRef c, LLVMModuleRef m, LLVMValueRef global, const uint8_t *input, size_t n)
{
    size_t k;
    const char *old = LLVMGetAsString(LLVMGetInitializer(global), &k), *colon = memchr(old, ':', k);
    size_t kept = colon ? (size_t)(colon + 1 - old) : k;
    char *text = malloc(kept + n + 1);
    memcpy(text, old, kept);
    memcpy(text + kept, input, n);
    LLVMValueRef value = LLVMConstStringInContext2(c, text, kept + n, 0);
    LLVMValueRef fresh = LLVMAddGlobal(m, LLVMTypeOf(value), "");
    LLVMSetInitializer(fresh, value);
    LLVMSetLinkage(fresh, LLVMPrivateLinkage);
    LLVMReplaceAllUsesWith(global, fresh);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t n)
{
    char *why = NULL;
    if (!program)
        load();
    LLVMContextRef c = LLVMContextCreate();
    LLVMModuleRef m;
    if (LLVMParseBitcodeInContext2(c, program, &m))
        abort();
    LLVMSetIsNewDbgInfoFormat(m, 0);
    /* New ones are added behind the last. */
    LLVMValueRef last = LLVMGetLastGlobal(m), after = last ? LLVMGetNextGlobal(last) : NULL;
    for (LLVMValueRef g = LLVMGetFirstGlobal(m), next; g != after; g = next) {
        next = g == last ? after : LLVMGetNextGlobal(g);
        LLVMValueRef value = LLVMGetInitializer(g);
        size_t k;
        if (value && LLVMIsAConstantDataSequential(value) && LLVMIsConstantString(value) &&
            strncmp(LLVMGetAsString(value, &k), "deadheat.", 9) == 0)
            replace_text(c, m, g, input, n);
    }
    dh_ir_read_annotations(m);
    if (LLVMVerifyModule(m, LLVMPrintMessageAction, &why))
        abort();
    LLVMDisposeMessage(why);
    LLVMDisposeModule(m);
    LLVMContextDispose(c);
    return 0;
}
