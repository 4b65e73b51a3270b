#include "ir/byval_copies.h"

#include "base/vec.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <string.h>

struct copier {
    LLVMModuleRef module;
    LLVMContextRef c;
    LLVMTargetDataRef layout;
    LLVMBuilderRef b;
    unsigned byval, align;
    DH_VEC(LLVMValueRef) calls;
};

static bool is_call(LLVMValueRef i)
{
    return LLVMIsACallInst(i) ? LLVMGetTailCallKind(i) != LLVMTailCallKindMustTail : LLVMIsAInvokeInst(i) != NULL;
}

static LLVMTypeRef type_of(const struct copier *k, LLVMValueRef call, unsigned argument)
{
    LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, argument + 1, k->byval);
    return a ? LLVMGetTypeAttributeValue(a) : NULL;
}

static bool is_copy(const struct copier *k, LLVMValueRef argument)
{
    LLVMValueRef f = LLVMGetParamParent(argument);
    for (unsigned n = 0; n < LLVMCountParams(f); n++)
        if (LLVMGetParam(f, n) == argument)
            return LLVMGetEnumAttributeAtIndex(f, n + 1, k->byval);
    return false;
}

static bool is_on_stack(const struct copier *k, LLVMValueRef v)
{
    while (LLVMIsAGetElementPtrInst(v) || LLVMIsABitCastInst(v))
        v = LLVMGetOperand(v, 0);
    return LLVMIsAAllocaInst(v) || LLVMIsAConstantPointerNull(v) || LLVMIsUndef(v) ||
           (LLVMIsAArgument(v) && is_copy(k, v));
}

static bool needs_copy(const struct copier *k, LLVMValueRef call, unsigned argument)
{
    LLVMTypeRef type = type_of(k, call, argument);
    LLVMValueRef from = LLVMGetOperand(call, argument);
    return type && LLVMGetPointerAddressSpace(LLVMTypeOf(from)) == 0 && LLVMABISizeOfType(k->layout, type) &&
           !is_on_stack(k, from);
}

static unsigned alignment_of(const struct copier *k, LLVMValueRef call, unsigned argument, LLVMTypeRef type)
{
    LLVMAttributeRef a = LLVMGetCallSiteEnumAttribute(call, argument + 1, k->align);
    return a ? (unsigned)LLVMGetEnumAttributeValue(a) : LLVMABIAlignmentOfType(k->layout, type);
}

static LLVMValueRef alloca_for(struct copier *k, LLVMValueRef call, LLVMTypeRef type, unsigned alignment)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMPositionBuilderBefore(k->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMSetCurrentDebugLocation2(k->b, NULL);
    LLVMValueRef slot = LLVMBuildAlloca(k->b, type, "");
    LLVMSetAlignment(slot, alignment);
    return slot;
}

static void make_copy(struct copier *k, LLVMValueRef call, unsigned argument)
{
    LLVMTypeRef type = type_of(k, call, argument);
    unsigned alignment = alignment_of(k, call, argument, type);
    LLVMValueRef slot = alloca_for(k, call, type, alignment);
    LLVMValueRef size = LLVMConstInt(LLVMInt64TypeInContext(k->c), LLVMABISizeOfType(k->layout, type), 0);
    LLVMPositionBuilderBefore(k->b, call);
    LLVMSetCurrentDebugLocation2(k->b, LLVMInstructionGetDebugLoc(call));
    LLVMBuildMemCpy(k->b, slot, alignment, LLVMGetOperand(call, argument), alignment, size);
    LLVMSetOperand(call, argument, slot);
    /* The copy is on the caller's stack: the call can be no tail call any more. */
    if (LLVMIsACallInst(call))
        LLVMSetTailCallKind(call, LLVMTailCallKindNone);
}

static void collect_calls(struct copier *k, LLVMValueRef function)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if (is_call(i))
                dh_vec_push(&k->calls, i);
}

void dh_ir_materialise_byval_copies(LLVMModuleRef m)
{
    struct copier k = {.module = m, .c = LLVMGetModuleContext(m), .layout = LLVMGetModuleDataLayout(m)};
    k.b = LLVMCreateBuilderInContext(k.c);
    k.byval = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
    k.align = LLVMGetEnumAttributeKindForName("align", strlen("align"));
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        collect_calls(&k, f);
    for (size_t n = 0; n < k.calls.n; n++)
        for (unsigned a = 0; a < LLVMGetNumArgOperands(k.calls.at[n]); a++)
            if (needs_copy(&k, k.calls.at[n], a))
                make_copy(&k, k.calls.at[n], a);
    dh_vec_release(&k.calls);
    LLVMDisposeBuilder(k.b);
}
