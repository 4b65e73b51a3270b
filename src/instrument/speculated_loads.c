#include "instrument/speculated_loads.h"

#include "ir/site_scopes.h"
#include "ir/sites.h"

/* Loads of the source keep their sites even when merged; loads without one were invented by the rewrite. */
static bool is_made_up(LLVMValueRef i)
{
    uint32_t site;
    return i && LLVMIsALoadInst(i) && !LLVMGetVolatile(i) && LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic &&
           dh_ir_site_of(i) == DH_NO_SITE && !dh_ir_merged_sites(i, &site, 1);
}

static LLVMValueRef only_user(LLVMValueRef i)
{
    LLVMUseRef u = LLVMGetFirstUse(i);
    return u && !LLVMGetNextUse(u) ? LLVMGetUser(u) : NULL;
}

static bool is_before(LLVMValueRef a, LLVMValueRef b)
{
    for (LLVMValueRef i = a; i; i = LLVMGetNextInstruction(i))
        if (i == b)
            return true;
    return false;
}

/* The select that takes one of two loads and drops the other. */
static LLVMValueRef choice_of(LLVMValueRef load)
{
    LLVMValueRef s = is_made_up(load) ? only_user(load) : NULL;
    if (!s || !LLVMIsASelectInst(s))
        return NULL;
    LLVMValueRef yes = LLVMGetOperand(s, 1), no = LLVMGetOperand(s, 2), other = yes == load ? no : yes;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(s);
    if (yes == no || !is_made_up(other) || only_user(other) != s || LLVMGetInstructionParent(load) != block ||
        LLVMGetInstructionParent(other) != block)
        return NULL;
    return s;
}

/* Whether a value that is known at `later` is known at `i` of the same block already. */
static bool is_known_at(LLVMValueRef value, LLVMValueRef i)
{
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(i))
        return true;
    return is_before(value, i);
}

bool dh_speculated_load_restore(struct dh_pass *pass, struct dh_memop *a)
{
    LLVMValueRef s = choice_of(a->at);
    if (!s)
        return true;
    LLVMValueRef yes = LLVMGetOperand(s, 1), no = LLVMGetOperand(s, 2), other = yes == a->at ? no : yes;
    LLVMValueRef to = LLVMGetOperand(yes, 0), or = LLVMGetOperand(no, 0), condition = LLVMGetOperand(s, 0);
    LLVMValueRef first = is_before(a->at, other) ? a->at : other;
    /* The address of the second must not depend on the first, nor the choice on either. */
    if (!is_known_at(condition, first) || !is_known_at(to, first) || !is_known_at(or, first))
        return true;
    if (first != a->at)
        return false;
    dh_pass_position_before(pass, a->at);
    a->addr = LLVMBuildSelect(pass->b, condition, to, or, "");
    return true;
}
