#include "instrument/value_bits.h"

bool dh_value_is_scalar(LLVMTypeRef t)
{
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMFP128TypeKind:
        return true;
    case LLVMPointerTypeKind:
        return LLVMGetPointerAddressSpace(t) == 0;
    default:
        return false;
    }
}

LLVMValueRef dh_value_to_bits(LLVMBuilderRef b, LLVMValueRef v, LLVMTypeRef bits)
{
    LLVMTypeRef t = LLVMTypeOf(v);
    if (t == bits)
        return v;
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
        return LLVMBuildZExt(b, v, bits, "");
    case LLVMPointerTypeKind:
        return LLVMBuildPtrToInt(b, v, bits, "");
    default:
        return LLVMBuildBitCast(b, v, bits, "");
    }
}

LLVMValueRef dh_value_from_bits(LLVMBuilderRef b, LLVMValueRef bits, LLVMTypeRef t)
{
    if (LLVMTypeOf(bits) == t)
        return bits;
    switch (LLVMGetTypeKind(t)) {
    case LLVMIntegerTypeKind:
        return LLVMBuildTrunc(b, bits, t, "");
    case LLVMPointerTypeKind:
        return LLVMBuildIntToPtr(b, bits, t, "");
    default:
        return LLVMBuildBitCast(b, bits, t, "");
    }
}
