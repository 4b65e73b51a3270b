#include "instrument/address_bases.h"

#include <llvm-c/DebugInfo.h>

enum { STEPS_MAX = 32 };

/* Through offsets and loaded pointers to the variable, argument or call they are based on. Of pointers that a loop
 * advances, the initial value is followed. */
static LLVMValueRef base_step(LLVMValueRef v)
{
    if (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr)
        return LLVMGetOperand(v, 0);
    if (LLVMIsAGetElementPtrInst(v) || LLVMIsABitCastInst(v) || LLVMIsALoadInst(v))
        return LLVMGetOperand(v, 0);
    if (LLVMIsASelectInst(v))
        return LLVMGetOperand(v, 1);
    if (LLVMIsAPHINode(v) && LLVMCountIncoming(v))
        return LLVMGetIncomingValue(v, 0);
    return NULL;
}

static LLVMValueRef base_of(LLVMValueRef addr)
{
    LLVMValueRef above;
    for (int i = 0; i < STEPS_MAX && (above = base_step(addr)); i++)
        addr = above;
    return addr;
}

/* A global is many functions' business: one of the source that only reads it reads what others write at other times,
 * also where all of them were inlined into one. What else an address may come from belongs to the function as it is
 * now: helpers that were inlined read what it has just written. */
static uint64_t key_of(LLVMValueRef access, LLVMValueRef addr)
{
    LLVMValueRef root = base_of(addr);
    LLVMMetadataRef at = LLVMIsAGlobalVariable(root) ? LLVMInstructionGetDebugLoc(access) : NULL;
    LLVMMetadataRef call = at ? LLVMDILocationGetInlinedAt(at) : NULL;
    return dh_hash_combine((uintptr_t)root, (uintptr_t)call);
}

void dh_address_bases_release(struct dh_address_bases *r)
{
    dh_u64_set_release(&r->stored);
}

static void add_stored_base(struct dh_address_bases *r, LLVMValueRef access, LLVMValueRef addr)
{
    dh_u64_set_add(&r->stored, key_of(access, addr));
}

void dh_address_bases_enter_function(struct dh_address_bases *r, LLVMValueRef f)
{
    dh_u64_set_clear(&r->stored);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAStoreInst(i))
                add_stored_base(r, i, LLVMGetOperand(i, 1));
            else if (LLVMIsAMemIntrinsic(i))
                add_stored_base(r, i, LLVMGetOperand(i, 0));
        }
}

bool dh_address_bases_is_read_only(const struct dh_address_bases *r, LLVMValueRef access, LLVMValueRef addr)
{
    return !dh_u64_set_has(&r->stored, key_of(access, addr));
}
