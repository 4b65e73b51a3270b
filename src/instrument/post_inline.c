#include "instrument/post_inline.h"

#include "instrument/attributes.h"
#include "instrument/hook_callers.h"
#include "instrument/loop_versioning.h"
#include "instrument/places.h"
#include "instrument/shadow_stack.h"

#include <llvm-c/DebugInfo.h>

static void remove_calls(struct dh_pass *pass, const char *hook)
{
    LLVMValueRef f = LLVMGetNamedFunction(pass->m, hook);
    for (LLVMUseRef u = f ? LLVMGetFirstUse(f) : NULL; u;) {
        LLVMValueRef call = LLVMGetUser(u);
        u = LLVMGetNextUse(u);
        if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f)
            continue;
        if (LLVMGetFirstUse(call)) /* merged exits leave phis of depths, which are dead */
            LLVMReplaceAllUsesWith(call, LLVMGetPoison(LLVMTypeOf(call)));
        LLVMInstructionEraseFromParent(call);
    }
}

void dh_post_inline_strip_frames(struct dh_pass *pass)
{
    remove_calls(pass, "__dh_leave");
    remove_calls(pass, "__dh_resume");
    remove_calls(pass, "__dh_enter");
}

static void settle_place(struct dh_pass *pass, LLVMValueRef call)
{
    unsigned n = LLVMGetNumArgOperands(call);
    LLVMValueRef place = n ? LLVMGetOperand(call, n - 1) : NULL;
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(call);
    /* Two hooks that were merged into one choose their place at run time; each is right but for its chain. */
    if (!place || !LLVMIsAConstantInt(place) || !loc || !LLVMDILocationGetInlinedAt(loc))
        return;
    uint32_t id = (uint32_t)LLVMConstIntGetZExtValue(place);
    uint32_t site = dh_places_site(pass->places, id);
    LLVMSetOperand(call, n - 1, dh_pass_u32(pass, dh_places_id(pass->places, site, loc)));
}

void dh_post_inline_places(struct dh_pass *pass)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(pass->m); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
                if (LLVMGetInstructionOpcode(i) == LLVMCall && dh_hooks_takes_place(LLVMGetCalledValue(i)))
                    settle_place(pass, i);
}

bool dh_instrument_after_inlining(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                                  struct dh_err *err)
{
    struct dh_plan none = {0};
    struct dh_pass pass;
    if (!dh_pass_init(&pass, m, &none, places, err))
        return false;
    dh_places_enter_module(places, m);
    dh_post_inline_strip_frames(&pass);
    dh_post_inline_places(&pass);
    /* Where few sites were chosen, most functions lead to none. */
    bool sparse = plan->bits && plan->everywhere == DH_CLASS_ATOMRACE;
    /* Healing and stale values need no call stacks. */
    bool frames =
        plan->everywhere & (DH_CLASSES_EXACT | DH_CLASSES_LATE) && !(plan->bits && plan->everywhere == DH_CLASS_STALE);
    struct dh_u64_set reaching = {0};
    if (sparse)
        dh_hook_callers_find(m, &reaching);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (frames && dh_pass_may_instrument(&pass, f) && (!sparse || dh_u64_set_has_pointer(&reaching, f))) {
            dh_pass_enter_function(&pass, f);
            dh_frames_place(&pass, f);
        }
    dh_u64_set_release(&reaching);
    if (plan->everywhere & DH_CLASS_STALE)
        dh_version_stale_loops(&pass);
    dh_attributes_relax(m);
    dh_places_leave_module(places);
    dh_pass_release(&pass);
    return true;
}
