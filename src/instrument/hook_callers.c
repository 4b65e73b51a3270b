#include "instrument/hook_callers.h"

#include "instrument/hooks.h"
#include "instrument/pass.h"

struct callers {
    LLVMModuleRef m;
    struct dh_u64_set *found;
    dh_value_vec work;
    bool by_pointer; /* one of them can be called through a pointer */
};

static void add_caller(struct callers *r, LLVMValueRef f)
{
    if (!dh_u64_set_add_pointer(r->found, f))
        return;
    dh_vec_push(&r->work, f);
}

static bool has(LLVMValueRef f, bool (*wanted)(LLVMValueRef call))
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if (dh_is_call(i) && wanted(i))
                return true;
    return false;
}

static bool is_placed(LLVMValueRef call)
{
    return dh_hooks_takes_place(LLVMGetCalledValue(call));
}

static bool is_indirect(LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call);
    return !LLVMIsAFunction(called) && !LLVMIsAInlineAsm(called);
}

static void add_all(struct callers *r, bool (*wanted)(LLVMValueRef call))
{
    for (LLVMValueRef f = LLVMGetFirstFunction(r->m); f; f = LLVMGetNextFunction(f))
        if (has(f, wanted))
            add_caller(r, f);
}

/* A function that takes the address passes it to one that calls it, such as qsort or pthread_create. */
static void add_users(struct callers *r, LLVMValueRef value, unsigned depth)
{
    enum { DEPTH = 8 };
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool called = LLVMIsACallInst(user) || LLVMIsAInvokeInst(user) ? LLVMGetCalledValue(user) == value : false;
        r->by_pointer |= !called;
        if (LLVMIsAInstruction(user))
            add_caller(r, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)));
        else if (depth < DEPTH && !LLVMIsAGlobalVariable(user))
            add_users(r, user, depth + 1);
    }
}

void dh_hook_callers_find(LLVMModuleRef m, struct dh_u64_set *out)
{
    struct callers r = {.m = m, .found = out};
    bool added_indirect = false;
    add_all(&r, is_placed);
    while (r.work.n) {
        LLVMValueRef f = r.work.at[--r.work.n];
        add_users(&r, f, 0);
        if (r.by_pointer && !added_indirect) {
            added_indirect = true;
            add_all(&r, is_indirect);
        }
    }
    dh_vec_release(&r.work);
}
