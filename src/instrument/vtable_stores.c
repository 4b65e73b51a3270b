#include "instrument/vtable_stores.h"

#include "ir/access_names.h"

#include <string.h>

/* An access tag is !{base type, access type, offset}; a type node starts with its name. */
bool dh_tag_names_vtable(LLVMValueRef tag)
{
    LLVMValueRef operands[4], type[8];
    unsigned n = LLVMGetMDNodeNumOperands(tag), length = 0;
    if (n < 3 || n > 4)
        return false;
    LLVMGetMDNodeOperands(tag, operands);
    if (!operands[1] || !LLVMIsAMDNode(operands[1]))
        return false;
    n = LLVMGetMDNodeNumOperands(operands[1]);
    if (!n || n > 8)
        return false;
    LLVMGetMDNodeOperands(operands[1], type);
    const char *name = type[0] ? LLVMGetMDString(type[0], &length) : NULL;
    return name && length == strlen("vtable pointer") && !memcmp(name, "vtable pointer", length);
}

bool dh_is_vtable_store(const struct dh_memop *a)
{
    if (a->kind != DH_MEMOP_PLAIN || a->op == DH_OP_READ || !LLVMIsAStoreInst(a->at) ||
        LLVMGetTypeKind(a->type) != LLVMPointerTypeKind)
        return false;
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetTypeContext(a->type), "tbaa", 4);
    LLVMValueRef tag = LLVMGetMetadata(a->at, kind);
    /* without optimisation there are no tags */
    return (tag && dh_tag_names_vtable(tag)) || dh_ir_stores_vtable(a->at);
}

static LLVMValueRef private_word(struct dh_pass *pass, LLVMValueRef near)
{
    LLVMBasicBlockRef here = LLVMGetInstructionParent(near);
    dh_pass_position_block_start(pass, LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here)));
    LLVMValueRef word = LLVMBuildAlloca(pass->b, pass->ptr, "");
    dh_pass_position_before(pass, near);
    return word;
}

LLVMValueRef dh_vtable_store_address(struct dh_pass *pass, const struct dh_memop *a)
{
    LLVMValueRef word = private_word(pass, a->at), before = LLVMBuildLoad2(pass->b, pass->ptr, a->addr, "");
    LLVMSetVolatile(before, true); /* of memory that nobody has written yet it would be any value */
    LLVMSetAlignment(before, LLVMGetAlignment(a->at));
    LLVMValueRef same = LLVMBuildICmp(pass->b, LLVMIntEQ, before, LLVMGetOperand(a->at, 0), "");
    return LLVMBuildSelect(pass->b, same, word, a->addr, "");
}
