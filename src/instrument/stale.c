#include "instrument/stale.h"

#include "instrument/values.h"

void dh_stale_release(struct dh_stale *s)
{
    dh_vec_release(&s->slots);
}

void dh_stale_next_function(struct dh_stale *s)
{
    s->slots.n = 0;
}

static int hook_for(uint64_t bytes)
{
    switch (bytes) {
    case 1:
        return DH_HOOK_LOAD1;
    case 2:
        return DH_HOOK_LOAD2;
    case 4:
        return DH_HOOK_LOAD4;
    case 8:
        return DH_HOOK_LOAD8;
    default:
        return -1;
    }
}

/* Replaces `old` by `new` everywhere but in the one instruction that passes it on to the hook. */
static void replace_uses(LLVMValueRef old, LLVMValueRef new, LLVMValueRef except, unsigned operand)
{
    LLVMReplaceAllUsesWith(old, new);
    LLVMSetOperand(except, operand, old);
}

static void place_scalar(struct dh_weave *w, const struct dh_memop *a, enum dh_hook hook, LLVMValueRef place)
{
    LLVMTypeRef bits = LLVMIntTypeInContext(w->c, (unsigned)a->bytes * 8);
    LLVMValueRef before = dh_value_to_bits(w->b, a->at, bits);
    LLVMValueRef args[] = {a->addr, before, place};
    LLVMValueRef call = dh_hooks_call(&w->hooks, w->b, hook, args);
    LLVMValueRef after = dh_value_from_bits(w->b, call, a->type);
    if (before == a->at)
        replace_uses(a->at, after, call, 1);
    else
        replace_uses(a->at, after, before, 0);
}

static LLVMValueRef slot_for(struct dh_stale *s, struct dh_weave *w, const struct dh_memop *a)
{
    for (size_t i = 0; i < s->slots.n; i++)
        if (LLVMGetAllocatedType(s->slots.at[i]) == a->type)
            return s->slots.at[i];
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(a->at)));
    LLVMPositionBuilderBefore(w->b, LLVMGetFirstInstruction(entry));
    LLVMSetCurrentDebugLocation2(w->b, NULL);
    LLVMValueRef slot = LLVMBuildAlloca(w->b, a->type, "");
    dh_vec_push(&s->slots, slot);
    return slot;
}

static void place_any(struct dh_stale *s, struct dh_weave *w, const struct dh_memop *a, LLVMValueRef place)
{
    LLVMValueRef slot = slot_for(s, w, a);
    dh_weave_after(w, a->at);
    LLVMValueRef store = LLVMBuildStore(w->b, a->at, slot);
    LLVMValueRef args[] = {a->addr, slot, dh_weave_u64(w, a->bytes), place};
    dh_hooks_call(&w->hooks, w->b, DH_HOOK_LOAD_ANY, args);
    replace_uses(a->at, LLVMBuildLoad2(w->b, a->type, slot, ""), store, 0);
}

void dh_stale_place(struct dh_stale *s, struct dh_weave *w, const struct dh_memop *a, LLVMValueRef place)
{
    int hook = dh_value_is_scalar(a->type) ? hook_for(a->bytes) : -1;
    if (hook < 0) {
        place_any(s, w, a, place);
        return;
    }
    dh_weave_after(w, a->at);
    place_scalar(w, a, (enum dh_hook)hook, place);
}
