#include "instrument/shadow_stack.h"

#include <string.h>

/* A leaf function needs its frame only so that reports about it show it. */
enum { FRAMES_IN_LEAVES_WITH_HOOKS = 1 };

bool dh_frames_present(LLVMModuleRef m)
{
    LLVMValueRef enter = LLVMGetNamedFunction(m, "__dh_enter");
    return enter && LLVMGetFirstUse(enter);
}

/* Instructions besides the entry that need a frame hook. */
struct exits {
    dh_value_vec leave;  /* instructions before which the frame ends */
    dh_value_vec resume; /* landing pads and calls that return twice */
    bool calls, hooks;
};

/* Nothing may stand between a musttail call and its ret (one cast aside): the frame ends before the call. */
static LLVMValueRef leave_point(LLVMValueRef ret)
{
    LLVMValueRef i = LLVMGetPreviousInstruction(ret);
    if (i && LLVMIsABitCastInst(i))
        i = LLVMGetPreviousInstruction(i);
    return i && dh_is_musttail(i) ? i : ret;
}

static void visit_call(struct exits *e, LLVMValueRef i)
{
    if (dh_is_intrinsic_call(i))
        return;
    if (dh_hooks_is_hook(LLVMGetCalledValue(i)))
        e->hooks = true;
    else if (!dh_is_musttail(i) && !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
        e->calls = true;
    if (dh_call_has(i, LLVMAttributeFunctionIndex, "returns_twice"))
        dh_vec_push(&e->resume, i);
}

static void add_exit(struct exits *e, LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMRet:
        dh_vec_push(&e->leave, leave_point(i));
        break;
    case LLVMResume:
        dh_vec_push(&e->leave, i);
        break;
    case LLVMLandingPad:
        dh_vec_push(&e->resume, i);
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        visit_call(e, i);
        break;
    default:
        break;
    }
}

static LLVMValueRef intrinsic(struct dh_pass *pass, const char *name, LLVMTypeRef *overload, size_t n,
                              LLVMValueRef *args, unsigned n_args)
{
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(pass->m, LLVMLookupIntrinsicID(name, strlen(name)), overload, n);
    return LLVMBuildCall2(pass->b, LLVMGlobalGetValueType(f), f, args, n_args, "");
}

static LLVMValueRef place_enter(struct dh_pass *pass, LLVMValueRef function)
{
    LLVMValueRef level = dh_pass_u32(pass, 0);
    dh_pass_position_block_start(pass, LLVMGetEntryBasicBlock(function));
    LLVMValueRef args[] = {intrinsic(pass, "llvm.addressofreturnaddress", &pass->ptr, 1, NULL, 0),
                           intrinsic(pass, "llvm.returnaddress", NULL, 0, &level, 1)};
    return dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_ENTER, args);
}

static void place_resume(struct dh_pass *pass, LLVMValueRef at, LLVMValueRef depth)
{
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMInvoke:
        dh_pass_position_block_start(pass, LLVMGetNormalDest(at));
        break;
    case LLVMLandingPad:
        dh_pass_position_block_start(pass, LLVMGetInstructionParent(at));
        break;
    case LLVMCallBr:
        return;
    default:
        dh_pass_position_after(pass, at);
    }
    dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_RESUME, &depth);
}

static bool wants_frame(LLVMValueRef function, const struct exits *e)
{
    if (!e->calls && !(e->hooks && FRAMES_IN_LEAVES_WITH_HOOKS))
        return false;
    /* Coroutines are split into several functions later, none of which would match the enter. */
    return !dh_function_has(function, "presplitcoroutine");
}

void dh_frames_place(struct dh_pass *pass, LLVMValueRef function)
{
    struct exits e = {0};
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            add_exit(&e, i);
    if (wants_frame(function, &e)) {
        LLVMValueRef depth = place_enter(pass, function);
        for (size_t i = 0; i < e.resume.n; i++)
            place_resume(pass, e.resume.at[i], depth);
        for (size_t i = 0; i < e.leave.n; i++) {
            dh_pass_position_before(pass, e.leave.at[i]);
            dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_LEAVE, &depth);
        }
    }
    dh_vec_release(&e.leave);
    dh_vec_release(&e.resume);
}
