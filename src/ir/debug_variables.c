#include "ir/debug_variables.h"

#include <string.h>

static void bind(struct dh_bindings *b, struct dh_di *di, LLVMValueRef call, LLVMValueRef value,
                 LLVMValueRef expression, bool declares, uint32_t order)
{
    LLVMMetadataRef node = dh_md_node(LLVMGetOperand(call, 1));
    if (!value || !node || LLVMIsUndef(value))
        return;
    const struct dh_expression *e = dh_di_expression(di, dh_md_node(expression));
    /* A declaration with a dereference names the pointee of the slot, which no pattern here needs. */
    if (!e->understood || (declares && e->deref) || (e->add && !declares && !e->deref))
        return;
    void **head = dh_ptr_map_at(&b->by_value, value);
    for (const struct dh_binding *old = *head; old; old = old->next)
        if (old->node == node && old->expression == e)
            return;
    struct dh_binding *fresh = dh_arena_take(&b->arena, sizeof *fresh);
    LLVMMetadataRef where = LLVMInstructionGetDebugLoc(call);
    *fresh = (struct dh_binding){*head, node, dh_di_variable(di, node), e, order, declares || e->deref, false};
    fresh->inlined = where && LLVMDILocationGetInlinedAt(where);
    *head = fresh;
}

static void read_call(struct dh_bindings *b, struct dh_di *di, LLVMValueRef call, uint32_t order)
{
    size_t n;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(call), &n);
    LLVMValueRef value = dh_md_value(LLVMGetOperand(call, 0));
    LLVMValueRef expression = LLVMGetOperand(call, 2);
    if (!strcmp(name, "llvm.dbg.declare")) {
        bind(b, di, call, value, expression, true, order);
    } else if (!strcmp(name, "llvm.dbg.value")) {
        bind(b, di, call, value, expression, false, order);
    } else if (!strcmp(name, "llvm.dbg.assign")) {
        bind(b, di, call, value, expression, false, order);
        bind(b, di, call, dh_md_value(LLVMGetOperand(call, 4)), LLVMGetOperand(call, 5), true, order);
    }
}

void dh_bindings_read(struct dh_bindings *b, struct dh_di *di, LLVMValueRef function)
{
    uint32_t order = 0;
    dh_ptr_map_clear(&b->by_value);
    dh_arena_clear(&b->arena);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i), order++)
            if (LLVMGetInstructionOpcode(i) == LLVMCall && LLVMIsADbgVariableIntrinsic(i))
                read_call(b, di, i, order);
}

const struct dh_binding *dh_bindings_find(const struct dh_bindings *b, LLVMValueRef value)
{
    return dh_ptr_map_find(&b->by_value, value);
}

void dh_bindings_release(struct dh_bindings *b)
{
    dh_ptr_map_release(&b->by_value);
    dh_arena_release(&b->arena);
}
