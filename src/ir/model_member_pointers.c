/* Pointers to member functions (Itanium ABI: a pair of integers: the function's address, or an odd vtable offset, and
 * the adjustment of `this`). A call through one has a virtual and a direct branch; where no pointer of the program
 * names a virtual function, or one with an adjustment, that branch is infeasible. Followed, it would take the first
 * field of any object for a vtable, and lose the object's fields. */
#include "ir/model_internal.h"

static bool is_pair(LLVMTypeRef t)
{
    if (LLVMGetTypeKind(t) != LLVMStructTypeKind || LLVMCountStructElementTypes(t) != 2)
        return false;
    LLVMTypeRef a = LLVMStructGetTypeAtIndex(t, 0), b = LLVMStructGetTypeAtIndex(t, 1);
    return LLVMGetTypeKind(a) == LLVMIntegerTypeKind && LLVMGetTypeKind(b) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(a) == 64 && LLVMGetIntTypeWidth(b) == 64;
}

static void look_at_constant(struct dh_model_reader *r, LLVMValueRef c, int depth)
{
    enum { DEEPEST = 6, MOST = 4096 };
    if (LLVMIsAConstantStruct(c) && is_pair(LLVMTypeOf(c))) {
        LLVMValueRef what = LLVMGetOperand(c, 0), by = LLVMGetOperand(c, 1);
        r->virtual_members |= LLVMIsAConstantInt(what) && LLVMConstIntGetZExtValue(what) & 1;
        r->distant_members |= !LLVMIsAConstantInt(by) || LLVMConstIntGetZExtValue(by) != 0;
        return;
    }
    if (depth > DEEPEST || !(LLVMIsAConstantStruct(c) || LLVMIsAConstantArray(c)))
        return;
    int n = LLVMGetNumOperands(c);
    for (int k = 0; k < n && k < MOST; k++)
        look_at_constant(r, LLVMGetOperand(c, (unsigned)k), depth + 1);
}

static void look_at_function(struct dh_model_reader *r, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            for (int k = LLVMGetNumOperands(i); k-- > 0;)
                if (LLVMIsAConstantStruct(LLVMGetOperand(i, (unsigned)k)))
                    look_at_constant(r, LLVMGetOperand(i, (unsigned)k), 0);
}

void dh_read_member_pointers(struct dh_model_reader *r)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(r->module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetInitializer(g))
            look_at_constant(r, LLVMGetInitializer(g), 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(r->module); f; f = LLVMGetNextFunction(f))
        look_at_function(r, f);
}

/* A member extracted from a pair that was loaded as a whole: in C and C++ only member pointers are. */
bool dh_read_is_member_pointer(LLVMValueRef v, unsigned part)
{
    if (!LLVMIsAExtractValueInst(v) || LLVMGetNumIndices(v) != 1 || LLVMGetIndices(v)[0] != part)
        return false;
    LLVMValueRef from = LLVMGetOperand(v, 0);
    return is_pair(LLVMTypeOf(from)) && (LLVMIsALoadInst(from) || LLVMIsAInsertValueInst(from));
}
