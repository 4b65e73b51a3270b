#include "instrument/private_args.h"

enum { SPARED = 2, SMALL_COPY = 64 };

/* Small copies are expanded inline and call nothing. */
static bool may_be_call(const struct dh_memop *a)
{
    return a->kind == DH_MEMOP_MEMORY && (!a->bytes || a->bytes > SMALL_COPY);
}

static unsigned ends_of(const struct dh_memop *a, LLVMValueRef spared[SPARED])
{
    unsigned n = 0;
    spared[n++] = a->addr;
    if (a->src)
        spared[n++] = a->src;
    return n;
}

static bool is_library_call(LLVMValueRef i)
{
    LLVMValueRef f = dh_called_function(i);
    return f && LLVMGetInstructionOpcode(i) == LLVMCall && LLVMIsDeclaration(f) && !dh_is_intrinsic_call(i) &&
           !dh_hooks_is_hook(f) && !dh_is_musttail(i) && !dh_function_has(f, "returns_twice");
}

static unsigned unseen_arguments(const struct dh_pass *pass, struct dh_escape *e, LLVMValueRef call,
                                 LLVMValueRef spared[SPARED])
{
    unsigned n = 0, count = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < count && n < SPARED; i++) {
        LLVMValueRef v = LLVMGetOperand(call, i);
        if (LLVMTypeOf(v) == pass->ptr && !LLVMIsAConstantPointerNull(v) &&
            (dh_escape_is_private(e, v) || dh_escape_is_constant(e, v)))
            spared[n++] = v;
    }
    return n;
}

static unsigned spared_by(const struct dh_pass *pass, struct dh_escape *e, LLVMValueRef i, LLVMValueRef spared[SPARED])
{
    struct dh_memop a;
    if (!dh_memop_of(pass, i, &a) || !(a.kind == DH_MEMOP_CALL || dh_memop_is_ordinary(&a)))
        return 0;
    if (may_be_call(&a))
        return ends_of(&a, spared);
    return a.kind == DH_MEMOP_CALL && is_library_call(i) ? unseen_arguments(pass, e, i, spared) : 0;
}

void dh_private_args_place(struct dh_pass *pass, struct dh_escape *e, LLVMValueRef function, dh_value_vec *work)
{
    work->n = 0;
    dh_pass_collect_memops(function, work);
    for (size_t i = 0; i < work->n; i++) {
        LLVMValueRef call = work->at[i], none = LLVMConstPointerNull(pass->ptr), spared[SPARED] = {none, none};
        if (!spared_by(pass, e, call, spared))
            continue;
        dh_pass_position_before(pass, call);
        dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_SPARE, spared);
        dh_pass_position_after(pass, call);
        dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_SPARE, (LLVMValueRef[]){none, none});
    }
}
