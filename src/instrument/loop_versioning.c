#include "instrument/loop_versioning.h"

#include "event/hooks.h"
#include "instrument/strided_loops.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

enum { ACCESSES_MOST = 24, RANGES_MOST = 8 /* more are not worth testing before the loop */ };

/* A strided access. */
struct walker {
    LLVMValueRef call, addr;
    int64_t by;
    uint64_t bytes;
    bool stores;
};

struct version {
    struct dh_pass *pass;
    struct dh_strided_loops *runs;
    struct dh_counted_loop *l;
    struct walker at[ACCESSES_MOST];
    unsigned n, ranges;
    LLVMBasicBlockRef exit, copy; /* exit block of the loop; the version without hooks */
    struct dh_u64_map known;      /* instruction of the loop -> its copy */
    dh_value_vec copies;
};

/* ---- which ---- */

static bool is_element(LLVMValueRef what)
{
    uint64_t bits = LLVMIsAConstantInt(what) ? LLVMConstIntGetZExtValue(what) : 0;
    return bits & DH_STALE_ELEMENT && !(bits & DH_STALE_VOLATILE);
}

static void look_at(struct version *v, LLVMValueRef call)
{
    enum dh_hook hook = dh_hooks_access(call);
    bool stores = hook >= DH_HOOK_STORE1;
    if (hook == DH_HOOK_COUNT || v->n == ACCESSES_MOST || !is_element(LLVMGetOperand(call, stores ? 2 : 1)))
        return;
    struct walker a = {.call = call, .addr = LLVMGetOperand(call, 0), .stores = stores};
    a.bytes = 1ull << (hook - (stores ? DH_HOOK_STORE1 : DH_HOOK_LOAD1));
    struct dh_counted_loop *l = dh_strided_loops_stride(v->runs, LLVMGetInstructionParent(call), a.addr, &a.by);
    bool known = false;
    for (unsigned i = 0; i < v->n && !known; i++)
        known = v->at[i].addr == a.addr && v->at[i].bytes >= a.bytes;
    if (!l || (!known && v->ranges == RANGES_MOST))
        return;
    v->ranges += !known;
    v->l = l;
    v->at[v->n++] = a;
}

static bool find_walkers(struct version *v, LLVMBasicBlockRef block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsACallInst(i))
            look_at(v, i);
    return v->n;
}

static unsigned count_entries(LLVMBasicBlockRef block)
{
    unsigned n = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); u; u = LLVMGetNextUse(u))
        n += LLVMIsATerminatorInst(LLVMGetUser(u)) != NULL;
    return n;
}

static bool is_outside(const struct version *v, LLVMValueRef user)
{
    return LLVMGetInstructionParent(user) != v->l->block;
}

/* Is the loop still entered only from its preheader, which is no loop itself? */
static bool is_still_simple(const struct version *v)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(v->l->block), end = LLVMGetBasicBlockTerminator(v->l->before);
    bool again = false;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        again = again || LLVMGetSuccessor(end, i) == v->l->before;
    return LLVMCountIncoming(phi) == 2 && LLVMIsABranchInst(end) && !again;
}

/* Values of the loop that are used after it need phis in the exit block: existing ones, or new ones where the loop is
 * the only predecessor. */
static bool can_join_values(const struct version *v)
{
    if (LLVMIsALandingPadInst(LLVMGetFirstInstruction(v->exit)))
        return false;
    if (count_entries(v->exit) == 1)
        return true;
    for (LLVMValueRef i = LLVMGetFirstInstruction(v->l->block); i; i = LLVMGetNextInstruction(i))
        for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            if (is_outside(v, user) && !(LLVMIsAPHINode(user) && LLVMGetInstructionParent(user) == v->exit))
                return false;
        }
    return true;
}

/* ---- the copy ---- */

static LLVMValueRef copy_of(const struct version *v, LLVMValueRef of)
{
    uint64_t *at = dh_u64_map_find(&v->known, (uintptr_t)of);
    if (of == LLVMBasicBlockAsValue(v->l->block))
        return LLVMBasicBlockAsValue(v->copy);
    return at ? v->copies.at[*at] : of;
}

static void note_copy(struct version *v, LLVMValueRef of, LLVMValueRef copy)
{
    *dh_u64_map_at(&v->known, (uintptr_t)of) = v->copies.n;
    dh_vec_push(&v->copies, copy);
}

static const struct walker *walker_of(const struct version *v, LLVMValueRef call)
{
    for (unsigned i = 0; i < v->n; i++)
        if (v->at[i].call == call)
            return &v->at[i];
    return NULL;
}

/* The plain load or store that the hook replaced. */
static LLVMValueRef make_access(struct version *v, const struct walker *a)
{
    LLVMBuilderRef b = v->pass->b;
    LLVMValueRef addr = copy_of(v, a->addr), made;
    if (a->stores)
        made = LLVMBuildStore(b, copy_of(v, LLVMGetOperand(a->call, 1)), addr);
    else
        made = LLVMBuildLoad2(b, LLVMTypeOf(a->call), addr, "");
    LLVMSetAlignment(made, 1);
    return made;
}

static void copy_instruction(struct version *v, LLVMValueRef i)
{
    const struct walker *a = walker_of(v, i);
    LLVMValueRef copy;
    LLVMSetCurrentDebugLocation2(v->pass->b, LLVMInstructionGetDebugLoc(i));
    if (a)
        copy = make_access(v, a);
    else if (LLVMIsAPHINode(i))
        copy = LLVMBuildPhi(v->pass->b, LLVMTypeOf(i), "");
    else {
        copy = LLVMInstructionClone(i);
        for (int k = 0; k < LLVMGetNumOperands(i); k++)
            LLVMSetOperand(copy, (unsigned)k, copy_of(v, LLVMGetOperand(i, (unsigned)k)));
        LLVMInsertIntoBuilder(v->pass->b, copy);
    }
    note_copy(v, i, copy);
}

static void copy_incoming(const struct version *v, LLVMValueRef phi)
{
    LLVMValueRef copy = copy_of(v, phi);
    for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, k);
        LLVMValueRef value = LLVMGetIncomingValue(phi, k);
        bool again = from == v->l->block;
        value = again ? copy_of(v, value) : value;
        from = again ? v->copy : from;
        LLVMAddIncoming(copy, &value, &from, 1);
    }
}

static void copy_loop(struct version *v)
{
    v->copy = LLVMInsertBasicBlockInContext(v->pass->c, v->l->block, "");
    LLVMPositionBuilderAtEnd(v->pass->b, v->copy);
    for (LLVMValueRef i = LLVMGetFirstInstruction(v->l->block); i; i = LLVMGetNextInstruction(i))
        copy_instruction(v, i);
    for (LLVMValueRef i = LLVMGetFirstInstruction(v->l->block); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
        copy_incoming(v, i);
}

/* ---- around both ---- */

/* Values used after the loop, when the loop is the exit block's only predecessor. */
static void join_value(struct version *v, LLVMValueRef i)
{
    dh_value_vec users = {0};
    for (LLVMUseRef u = LLVMGetFirstUse(i); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        bool joins = LLVMIsAPHINode(user) && LLVMGetInstructionParent(user) == v->exit;
        if (is_outside(v, user) && !joins)
            dh_vec_push(&users, user);
    }
    if (users.n) {
        LLVMValueRef values[] = {i, copy_of(v, i)};
        LLVMBasicBlockRef from[] = {v->l->block, v->copy};
        LLVMPositionBuilderBefore(v->pass->b, LLVMGetFirstInstruction(v->exit));
        LLVMSetCurrentDebugLocation2(v->pass->b, NULL);
        LLVMValueRef phi = LLVMBuildPhi(v->pass->b, LLVMTypeOf(i), "");
        for (size_t k = 0; k < users.n; k++)
            for (int o = 0; o < LLVMGetNumOperands(users.at[k]); o++)
                if (LLVMGetOperand(users.at[k], (unsigned)o) == i)
                    LLVMSetOperand(users.at[k], (unsigned)o, phi);
        LLVMAddIncoming(phi, values, from, 2);
    }
    dh_vec_release(&users);
}

static void come_together(struct version *v)
{
    for (LLVMValueRef p = LLVMGetFirstInstruction(v->exit); p && LLVMIsAPHINode(p); p = LLVMGetNextInstruction(p))
        for (unsigned k = 0, n = LLVMCountIncoming(p); k < n; k++)
            if (LLVMGetIncomingBlock(p, k) == v->l->block) {
                LLVMValueRef value = copy_of(v, LLVMGetIncomingValue(p, k));
                LLVMAddIncoming(p, &value, &v->copy, 1);
            }
    for (LLVMValueRef i = LLVMGetFirstInstruction(v->l->block); i; i = LLVMGetNextInstruction(i))
        join_value(v, i);
}

/* Is none of the bytes in the range of an access watched? */
static LLVMValueRef is_unwatched(struct version *v, const struct walker *a, LLVMValueRef rounds)
{
    struct dh_pass *pass = v->pass;
    LLVMValueRef first =
        LLVMBuildPtrToInt(pass->b, dh_strided_loops_first_address(v->runs, v->l, a->addr), pass->i64, "");
    LLVMValueRef less = LLVMBuildSub(pass->b, rounds, dh_pass_u64(pass, 1), "");
    LLVMValueRef way = LLVMBuildMul(pass->b, less, dh_pass_u64(pass, (uint64_t)llabs(a->by)), "");
    if (a->by < 0)
        first = LLVMBuildSub(pass->b, first, way, "");
    LLVMValueRef args[] = {LLVMBuildIntToPtr(pass->b, first, pass->ptr, ""),
                           LLVMBuildAdd(pass->b, way, dh_pass_u64(pass, a->bytes), "")};
    LLVMValueRef is = dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_UNWATCHED, args);
    return LLVMBuildICmp(pass->b, LLVMIntNE, is, dh_pass_u32(pass, 0), "");
}

static LLVMValueRef all_unwatched(struct version *v)
{
    LLVMValueRef rounds = dh_strided_loops_trip_count(v->runs, v->l), all = NULL;
    for (unsigned i = 0; i < v->n; i++) {
        bool known = false;
        for (unsigned k = 0; k < i && !known; k++)
            known = v->at[k].addr == v->at[i].addr && v->at[k].bytes >= v->at[i].bytes;
        if (known)
            continue;
        LLVMValueRef one = is_unwatched(v, &v->at[i], rounds);
        all = all ? LLVMBuildAnd(v->pass->b, all, one, "") : one;
    }
    return all;
}

/* Both versions share the preheader, so that their phis keep their incoming blocks: one branch selects between them. */
static void choose(struct version *v)
{
    struct dh_pass *pass = v->pass;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(v->l->before);
    LLVMPositionBuilderBefore(pass->b, end);
    LLVMSetCurrentDebugLocation2(pass->b, LLVMInstructionGetDebugLoc(v->at[0].call));
    LLVMValueRef clear = all_unwatched(v);
    if (!LLVMIsConditional(end)) {
        LLVMBuildCondBr(pass->b, clear, v->copy, v->l->block);
    } else {
        bool first = LLVMGetSuccessor(end, 0) == v->l->block;
        LLVMValueRef entered = LLVMGetCondition(end), zero = dh_pass_u32(pass, 0);
        LLVMValueRef which = LLVMBuildSelect(pass->b, clear, dh_pass_u32(pass, 2), dh_pass_u32(pass, 1), "");
        which = LLVMBuildSelect(pass->b, entered, first ? which : zero, first ? zero : which, "");
        LLVMValueRef choice = LLVMBuildSwitch(pass->b, which, LLVMGetSuccessor(end, first), 2);
        LLVMAddCase(choice, dh_pass_u32(pass, 1), v->l->block);
        LLVMAddCase(choice, dh_pass_u32(pass, 2), v->copy);
    }
    LLVMInstructionEraseFromParent(end);
}

static void double_loop(struct dh_pass *pass, struct dh_strided_loops *runs, LLVMBasicBlockRef block)
{
    struct version v = {.pass = pass, .runs = runs};
    if (!find_walkers(&v, block))
        return;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    v.exit = LLVMGetSuccessor(end, LLVMGetSuccessor(end, 0) == block);
    if (!is_still_simple(&v) || !can_join_values(&v))
        return;
    copy_loop(&v);
    come_together(&v);
    choose(&v);
    dh_u64_map_release(&v.known);
    dh_vec_release(&v.copies);
}

void dh_version_stale_loops(struct dh_pass *pass)
{
    struct dh_strided_loops runs = {.with_chosen = true};
    for (LLVMValueRef f = LLVMGetFirstFunction(pass->m); f; f = LLVMGetNextFunction(f)) {
        if (!dh_pass_may_instrument(pass, f))
            continue;
        dh_pass_enter_function(pass, f);
        dh_strided_loops_enter_function(&runs, pass, f);
        for (size_t i = 0; i < runs.loops.n; i++)
            double_loop(pass, &runs, runs.loops.at[i].block);
    }
    dh_strided_loops_release(&runs);
}
