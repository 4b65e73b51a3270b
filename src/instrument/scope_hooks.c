/* Method scopes (003 ch. 5) for the consistency detector: hooks at entry and exits of each function that may access
 * shared data more than once. Needs: a module as numbered, before inlining. Provides: scopes that survive inlining,
 * since their hooks are ordinary calls inside the function's body. A hook with a pointer to a local variable as
 * argument would keep that variable in memory. So the object of a scope is filled in after simplification
 * (dh_instrument_scope_objects), from the debug intrinsics of the function's first pointer parameter; an object that is
 * private to the thread is left out. */
#include "instrument/attributes.h"
#include "instrument/escape.h"
#include "instrument/instrument.h"
#include "instrument/pass.h"
#include "instrument/places.h"
#include "ir/debug_info.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* How often a function may access shared data, and whether it may write it or synchronise. A function that only reads,
 * and calls only such functions, has no scope of its own: its reads belong to the caller's. */
enum { NONE, ONCE, OFTEN, COUNTING = 3, COUNT = 3, WRITES_OR_SYNCHRONISES = 4 };

struct scope_placement {
    struct dh_pass pass;
    struct dh_escape escape;
    struct dh_u64_map accesses; /* function -> how often | WRITES_OR_SYNCHRONISES */
    struct dh_u64_map seen;     /* blocks: 1 on the path, 2 done */
    dh_value_vec work;
    DH_VEC(LLVMBasicBlockRef) path;
};

/* ---- which functions ---- */

static unsigned next_successor(struct scope_placement *a, LLVMValueRef end, unsigned from, bool *cycle)
{
    unsigned n = LLVMGetNumSuccessors(end);
    for (; from < n; from++) {
        uint64_t *colour = dh_u64_map_find(&a->seen, (uintptr_t)LLVMGetSuccessor(end, from));
        if (!colour)
            return from;
        *cycle |= *colour == 1;
    }
    return n;
}

static void push_block(struct scope_placement *a, LLVMBasicBlockRef block)
{
    *dh_u64_map_at(&a->seen, (uintptr_t)block) = 1;
    dh_vec_push(&a->path, block);
}

static bool has_loop(struct scope_placement *a, LLVMValueRef function)
{
    bool cycle = false;
    dh_u64_map_clear(&a->seen);
    a->path.n = 0;
    push_block(a, LLVMGetEntryBasicBlock(function));
    while (a->path.n && !cycle) {
        LLVMBasicBlockRef block = a->path.at[a->path.n - 1];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        unsigned next = next_successor(a, end, 0, &cycle);
        if (next < LLVMGetNumSuccessors(end)) {
            push_block(a, LLVMGetSuccessor(end, next));
        } else {
            *dh_u64_map_find(&a->seen, (uintptr_t)block) = 2;
            a->path.n--;
        }
    }
    return cycle;
}

static bool is_private(struct scope_placement *a, LLVMValueRef addr)
{
    return dh_escape_is_private(&a->escape, addr) || dh_escape_is_copy(&a->escape, addr) || dh_escape_is_result(addr);
}

static bool is_shared(struct scope_placement *a, const struct dh_memop *m)
{
    bool reads = m->op == DH_OP_READ || m->op == DH_OP_ATOMIC_LOAD;
    if (!dh_memop_is_ordinary(m))
        return false;
    if (!is_private(a, m->addr) && !(reads && dh_escape_is_constant(&a->escape, m->addr)))
        return true;
    return m->src && !is_private(a, m->src) && !dh_escape_is_constant(&a->escape, m->src);
}

/* A library function may do anything through pointer arguments; synchronisation and allocation do not access the
 * program's data. */
static unsigned accesses_of_library_call(LLVMValueRef call, const struct dh_site_table *sites)
{
    uint32_t site = dh_ir_site_of(call);
    enum dh_group group = site < sites->n_sites ? dh_op_info(sites->sites[site].op)->group : DH_GROUP_MEMORY;
    if (group != DH_GROUP_MEMORY)
        return group == DH_GROUP_SYNC || group == DH_GROUP_THREAD ? WRITES_OR_SYNCHRONISES : NONE;
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind && !LLVMIsConstant(argument))
            return ONCE | WRITES_OR_SYNCHRONISES;
    }
    return NONE;
}

static unsigned accesses_of_function(struct scope_placement *a, LLVMValueRef function);

static unsigned accesses_of_call(struct scope_placement *a, LLVMValueRef call)
{
    LLVMValueRef called = LLVMGetCalledValue(call), f = dh_called_function(call);
    struct dh_site_table sites = dh_site_builder_view(a->pass.places->sites);
    if (LLVMIsAInlineAsm(called))
        return NONE;
    if (!f)
        return OFTEN | WRITES_OR_SYNCHRONISES;
    return LLVMIsDeclaration(f) ? accesses_of_library_call(call, &sites) : accesses_of_function(a, f);
}

static unsigned accesses_of_instruction(struct scope_placement *a, LLVMValueRef i)
{
    struct dh_memop m;
    if (!dh_memop_of(&a->pass, i, &m))
        return NONE;
    if (m.kind == DH_MEMOP_CALL)
        return accesses_of_call(a, i);
    if (!m.addr || !is_shared(a, &m))
        return m.kind == DH_MEMOP_FENCE ? WRITES_OR_SYNCHRONISES : NONE;
    return m.op == DH_OP_READ ? ONCE : ONCE | WRITES_OR_SYNCHRONISES;
}

/* A recursive function is reached while it is counted: it does what it does often. */
static unsigned accesses_of_function(struct scope_placement *a, LLVMValueRef function)
{
    uint64_t *known = dh_u64_map_find(&a->accesses, (uintptr_t)function);
    if (known)
        return *known == COUNTING ? OFTEN : *known;
    *dh_u64_map_at(&a->accesses, (uintptr_t)function) = COUNTING;
    unsigned sum = NONE, acts = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i && !(sum >= OFTEN && acts);
             i = LLVMGetNextInstruction(i)) {
            unsigned found = accesses_of_instruction(a, i);
            sum += found & COUNT;
            acts |= found & WRITES_OR_SYNCHRONISES;
        }
    if (sum == ONCE && has_loop(a, function))
        sum = OFTEN;
    sum = (sum < OFTEN ? sum : OFTEN) | acts;
    *dh_u64_map_find(&a->accesses, (uintptr_t)function) = sum;
    return sum;
}

/* ---- hooks ---- */

/* Nothing may stand between a musttail call and its ret (one cast aside). */
static LLVMValueRef leave_point(LLVMValueRef ret)
{
    LLVMValueRef i = LLVMGetPreviousInstruction(ret);
    if (i && LLVMIsABitCastInst(i))
        i = LLVMGetPreviousInstruction(i);
    return i && dh_is_musttail(i) ? i : ret;
}

static void place_leave(struct scope_placement *a, LLVMValueRef before, LLVMValueRef token)
{
    dh_pass_position_before(&a->pass, before);
    dh_hooks_call(&a->pass.hooks, a->pass.b, DH_HOOK_SCOPE_LEAVE, &token);
}

/* Closes scopes of callees that were unwound. */
static void place_resume(struct scope_placement *a, LLVMValueRef at, LLVMValueRef token)
{
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMInvoke:
        dh_pass_position_block_start(&a->pass, LLVMGetNormalDest(at));
        break;
    case LLVMLandingPad:
        dh_pass_position_block_start(&a->pass, LLVMGetInstructionParent(at));
        break;
    case LLVMCallBr:
        return;
    default:
        dh_pass_position_after(&a->pass, at);
    }
    LLVMValueRef above = LLVMBuildAdd(a->pass.b, token, dh_pass_u32(&a->pass, 1), "");
    dh_hooks_call(&a->pass.hooks, a->pass.b, DH_HOOK_SCOPE_LEAVE, &above);
}

static bool is_resume(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVMLandingPad ||
           (dh_is_call(i) && dh_call_has(i, LLVMAttributeFunctionIndex, "returns_twice"));
}

static void place_scope_exits(struct scope_placement *a, LLVMValueRef function, LLVMValueRef token)
{
    a->work.n = 0;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMRet || LLVMGetInstructionOpcode(i) == LLVMResume || is_resume(i))
                dh_vec_push(&a->work, i);
    for (size_t i = 0; i < a->work.n; i++) {
        LLVMValueRef at = a->work.at[i];
        if (is_resume(at))
            place_resume(a, at, token);
        else
            place_leave(a, LLVMGetInstructionOpcode(at) == LLVMRet ? leave_point(at) : at, token);
    }
}

/* The first pointer parameter of the source: a hidden one for the returned structure precedes it. */
static LLVMValueRef object_of(LLVMValueRef function)
{
    static const char *const hidden[] = {"sret", "nest", "swiftself", "byval", "inalloca", "preallocated"};
    unsigned n = LLVMCountParams(function);
    for (unsigned i = 0; i < n; i++) {
        LLVMValueRef p = LLVMGetParam(function, i);
        bool ordinary =
            LLVMGetTypeKind(LLVMTypeOf(p)) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(LLVMTypeOf(p)) == 0;
        for (size_t k = 0; ordinary && k < sizeof hidden / sizeof *hidden; k++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(hidden[k], strlen(hidden[k]));
            ordinary = !LLVMGetEnumAttributeAtIndex(function, i + 1, kind);
        }
        if (ordinary)
            return p;
    }
    return NULL;
}

/* By the debug intrinsics of the entry block; NULL: unknown. */
static LLVMMetadataRef variable_of(LLVMValueRef function, LLVMValueRef parameter)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
    for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i))
        if (LLVMIsADbgVariableIntrinsic(i) && dh_md_value(LLVMGetOperand(i, 0)) == parameter)
            return dh_md_node(LLVMGetOperand(i, 1));
    return NULL;
}

static void place(struct scope_placement *a, LLVMValueRef function, struct dh_scope_objects *objects)
{
    uint32_t site = dh_ir_function_site(function);
    if (site == DH_NO_SITE || !(dh_plan_classes(a->pass.plan, site) & DH_CLASS_SCOPE))
        return;
    LLVMValueRef object = object_of(function);
    LLVMMetadataRef variable = object ? variable_of(function, object) : NULL;
    dh_pass_enter_function(&a->pass, function);
    dh_pass_position_block_start(&a->pass, LLVMGetEntryBasicBlock(function));
    /* Without debug information the object cannot be found later. */
    bool is_passed = object && !LLVMGetSubprogram(function);
    LLVMValueRef args[] = {is_passed ? object : LLVMConstNull(a->pass.ptr), dh_pass_u32(&a->pass, site)};
    /* To the optimiser the hook may access any memory, so that the function's reads are not replaced by registers of
     * the previous activation. */
    LLVMValueRef token = dh_hooks_call(&a->pass.hooks, a->pass.b, DH_HOOK_SCOPE_ENTER, args);
    if (variable && !dh_u64_map_find(&objects->of_site, site)) {
        *dh_u64_map_at(&objects->of_site, site) = objects->variables.n;
        dh_vec_push(&objects->variables, variable);
    }
    place_scope_exits(a, function, token);
}

static bool needs_scope(struct scope_placement *a, LLVMValueRef f)
{
    return dh_pass_may_instrument(&a->pass, f) && !dh_function_is_unchecked(f) &&
           !dh_function_has(f, "presplitcoroutine") && accesses_of_function(a, f) == (OFTEN | WRITES_OR_SYNCHRONISES);
}

bool dh_instrument_scopes(LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                          struct dh_scope_objects *objects, struct dh_err *err)
{
    struct scope_placement a = {0};
    if (!dh_pass_init(&a.pass, m, plan, places, err))
        return false;
    dh_value_vec wanted = {0};
    dh_escape_init(&a.escape, a.pass.c);
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        if (needs_scope(&a, f))
            dh_vec_push(&wanted, f);
    for (size_t i = 0; i < wanted.n; i++)
        place(&a, wanted.at[i], objects);
    dh_attributes_relax(m);
    dh_vec_release(&wanted);
    dh_vec_release(&a.work);
    dh_vec_release(&a.path);
    dh_u64_map_release(&a.accesses);
    dh_u64_map_release(&a.seen);
    dh_escape_release(&a.escape);
    dh_pass_release(&a.pass);
    return true;
}

/* ---- the object, after simplification ---- */

static bool describes(LLVMValueRef i, LLVMMetadataRef variable, LLVMMetadataRef inlined_at)
{
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(i);
    return dh_md_node(LLVMGetOperand(i, 1)) == variable && loc && LLVMDILocationGetInlinedAt(loc) == inlined_at;
}

static bool is_plain(struct dh_di *di, LLVMValueRef i)
{
    const struct dh_expression *e = dh_di_expression(di, dh_md_node(LLVMGetOperand(i, 2)));
    return e->understood && !e->deref && !e->add;
}

/* The variable's value at the hook, by the last debug intrinsic before it in its block. */
static LLVMValueRef value_at(struct dh_di *di, LLVMValueRef hook, LLVMMetadataRef variable)
{
    enum { FAR = 256 };
    LLVMMetadataRef loc = LLVMInstructionGetDebugLoc(hook);
    LLVMMetadataRef inlined_at = loc ? LLVMDILocationGetInlinedAt(loc) : NULL;
    LLVMValueRef i = LLVMGetPreviousInstruction(hook);
    for (int n = 0; i && n < FAR; n++, i = LLVMGetPreviousInstruction(i))
        if (LLVMIsADbgVariableIntrinsic(i) && describes(i, variable, inlined_at))
            return is_plain(di, i) ? dh_md_value(LLVMGetOperand(i, 0)) : NULL;
    return NULL;
}

static bool comes_before(LLVMValueRef first, LLVMValueRef second)
{
    LLVMValueRef i = LLVMGetNextInstruction(first);
    while (i && i != second)
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Is there a path from the entry to `to` that avoids `around` (which then does not dominate it)? */
static bool is_reachable_without(struct scope_placement *a, LLVMBasicBlockRef to, LLVMBasicBlockRef around)
{
    enum { MOST = 2000 }; /* blocks; beyond, assume there is */
    bool ignored = false;
    dh_u64_map_clear(&a->seen);
    *dh_u64_map_at(&a->seen, (uintptr_t)around) = 2;
    a->path.n = 0;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(to));
    if (entry != around)
        push_block(a, entry);
    while (a->path.n) {
        LLVMBasicBlockRef block = a->path.at[a->path.n - 1];
        if (block == to || a->seen.n > MOST)
            return true;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        unsigned next = next_successor(a, end, 0, &ignored);
        if (next < LLVMGetNumSuccessors(end))
            push_block(a, LLVMGetSuccessor(end, next));
        else
            a->path.n--;
    }
    return false;
}

/* Whether the value dominates the hook: values may have moved after their debug intrinsics. */
static bool dominates(struct scope_placement *a, LLVMValueRef value, LLVMValueRef hook)
{
    if (!LLVMIsAInstruction(value))
        return true;
    LLVMBasicBlockRef from = LLVMGetInstructionParent(value), to = LLVMGetInstructionParent(hook);
    if (from == to)
        return comes_before(value, hook);
    /* The result of an invoke is defined on its normal edge only. */
    return LLVMGetInstructionOpcode(value) != LLVMInvoke && LLVMGetInstructionOpcode(value) != LLVMCallBr &&
           !is_reachable_without(a, to, from);
}

static void fill_in_object(struct scope_placement *a, const struct dh_scope_objects *objects, struct dh_di *di,
                           LLVMValueRef hook)
{
    LLVMValueRef place = LLVMGetOperand(hook, 1);
    if (!LLVMIsAConstantInt(place) || !LLVMIsNull(LLVMGetOperand(hook, 0)))
        return;
    uint64_t *variable = dh_u64_map_find(&objects->of_site, LLVMConstIntGetZExtValue(place));
    LLVMValueRef object = variable ? value_at(di, hook, objects->variables.at[*variable]) : NULL;
    if (!object || LLVMTypeOf(object) != a->pass.ptr || LLVMIsUndef(object) ||
        dh_escape_is_private(&a->escape, object) || !dominates(a, object, hook))
        return;
    LLVMSetOperand(hook, 0, object);
}

bool dh_instrument_scope_objects(LLVMModuleRef m, struct dh_places *places, const struct dh_scope_objects *objects,
                                 struct dh_err *err)
{
    struct dh_plan none = {0};
    struct scope_placement a = {0};
    if (!dh_pass_init(&a.pass, m, &none, places, err))
        return false;
    struct dh_di *di = dh_di_new(m);
    dh_escape_init(&a.escape, a.pass.c);
    LLVMValueRef enter = LLVMGetNamedFunction(m, "__dh_scope_enter");
    for (LLVMUseRef u = enter ? LLVMGetFirstUse(enter) : NULL; u; u = LLVMGetNextUse(u)) {
        LLVMValueRef call = LLVMGetUser(u);
        if (LLVMIsACallInst(call) && LLVMGetCalledValue(call) == enter)
            fill_in_object(&a, objects, di, call);
    }
    dh_vec_release(&a.path);
    dh_u64_map_release(&a.seen);
    dh_escape_release(&a.escape);
    dh_di_free(di);
    dh_pass_release(&a.pass);
    return true;
}

void dh_scope_objects_release(struct dh_scope_objects *objects)
{
    dh_u64_map_release(&objects->of_site);
    dh_vec_release(&objects->variables);
}
