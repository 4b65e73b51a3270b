/* Integers that may carry a pointer: those of pointer width that reach memory, a call or a cast. All others are plain
 * numbers, for which points-to analyses need no nodes. */
#include "ir/model_internal.h"

static void mark_wide(struct dh_model_reader *r, LLVMValueRef v)
{
    if (!LLVMIsAInstruction(v) && !LLVMIsAArgument(v))
        return;
    switch (LLVMGetTypeKind(LLVMTypeOf(v))) {
    case LLVMIntegerTypeKind:
        if (LLVMGetIntTypeWidth(LLVMTypeOf(v)) < 64)
            return;
        break;
    case LLVMStructTypeKind:
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        break;
    default:
        return;
    }
    void **slot = dh_ptr_map_at(&r->wide, v);
    if (*slot)
        return;
    *slot = v;
    dh_vec_push(&r->pending, v);
}

/* Products and remainders hold no pointers. */
static bool passes_on(LLVMOpcode op)
{
    switch (op) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMLShr:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMInsertValue:
    case LLVMInsertElement:
    case LLVMExtractValue:
    case LLVMExtractElement:
    case LLVMShuffleVector:
        return true;
    default:
        return false;
    }
}

static bool is_sink(LLVMOpcode op)
{
    switch (op) {
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
    case LLVMRet:
    case LLVMIntToPtr:
        return true;
    default:
        return false;
    }
}

static void want_operands(struct dh_model_reader *r, LLVMValueRef i)
{
    for (int k = 0; k < LLVMGetNumOperands(i); k++) {
        LLVMValueRef v = LLVMGetOperand(i, (unsigned)k);
        if (v)
            mark_wide(r, v);
    }
}

void dh_read_pointer_integers(struct dh_model_reader *r)
{
    dh_ptr_map_clear(&r->wide);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_sink(LLVMGetInstructionOpcode(i)))
                want_operands(r, i);
    while (r->pending.n) {
        LLVMValueRef v = r->pending.at[--r->pending.n];
        if (LLVMIsAInstruction(v) && passes_on(LLVMGetInstructionOpcode(v)))
            want_operands(r, v);
    }
}
