#include "instrument/escape.h"

#include "instrument/pass.h"
#include "instrument/vtable_stores.h"

#include <string.h>

enum { USES_MAX = 512, STEPS_MAX = 32, WAYS_MAX = 64 };

void dh_escape_init(struct dh_escape *e, LLVMContextRef c)
{
    *e = (struct dh_escape){.tbaa = LLVMGetMDKindIDInContext(c, "tbaa", 4)};
}

void dh_escape_release(struct dh_escape *e)
{
    dh_u64_map_release(&e->locals);
    dh_u64_map_release(&e->vtables);
    dh_u64_set_release(&e->seen);
    dh_u64_set_release(&e->ways);
    dh_vec_release(&e->work);
    dh_vec_release(&e->bases);
}

void dh_escape_next_function(struct dh_escape *e)
{
    dh_u64_map_clear(&e->locals);
}

static bool is_offset(LLVMValueRef v)
{
    if (LLVMIsAConstantExpr(v))
        return LLVMGetConstOpcode(v) == LLVMGetElementPtr || LLVMGetConstOpcode(v) == LLVMBitCast;
    return LLVMIsAGetElementPtrInst(v) || LLVMIsABitCastInst(v);
}

static LLVMValueRef base_of(LLVMValueRef addr)
{
    for (int i = 0; i < STEPS_MAX && is_offset(addr); i++)
        addr = LLVMGetOperand(addr, 0);
    return addr;
}

static bool passes_without_capture(LLVMValueRef call, LLVMValueRef pointer)
{
    if (LLVMGetCalledValue(call) == pointer)
        return false;
    if (LLVMIsAMemIntrinsic(call) || dh_hooks_is_hook(LLVMGetCalledValue(call)))
        return true;
    /* A bundle's operand is no argument and has no attribute. */
    if (LLVMGetNumOperandBundles(call))
        return false;
    unsigned n = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetOperand(call, i) == pointer && !dh_call_has(call, i + 1, "nocapture"))
            return false;
    return true;
}

/* Integer casts that do not escape: pointer differences, comparisons, alignment bits. */
static bool stays_a_distance(LLVMValueRef number)
{
    for (LLVMUseRef u = LLVMGetFirstUse(number); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAICmpInst(user))
            continue;
        if (!LLVMIsABinaryOperator(user))
            return false;
        LLVMValueRef left = LLVMGetOperand(user, 0), right = LLVMGetOperand(user, 1);
        LLVMOpcode op = LLVMGetInstructionOpcode(user);
        bool distance = op == LLVMSub && LLVMIsAPtrToIntInst(left) && LLVMIsAPtrToIntInst(right);
        bool low = op == LLVMAnd && LLVMIsAConstantInt(right) && LLVMConstIntGetZExtValue(right) < 4096;
        if (!distance && !low)
            return false;
    }
    return true;
}

enum use { USE_HARMLESS, USE_FOLLOW, USE_ESCAPES };

static enum use use_of(LLVMValueRef user, LLVMValueRef pointer)
{
    if (!LLVMIsAInstruction(user))
        return USE_ESCAPES;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp:
        return USE_HARMLESS;
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: {
        unsigned where = LLVMIsAStoreInst(user) ? 1 : 0;
        for (int i = 0; i < LLVMGetNumOperands(user); i++)
            if ((unsigned)i != where && LLVMGetOperand(user, (unsigned)i) == pointer)
                return USE_ESCAPES;
        return USE_HARMLESS;
    }
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMPHI:
    case LLVMSelect:
        return USE_FOLLOW;
    case LLVMPtrToInt:
        return stays_a_distance(user) ? USE_HARMLESS : USE_ESCAPES;
    case LLVMCall:
    case LLVMInvoke:
        return passes_without_capture(user, pointer) ? USE_HARMLESS : USE_ESCAPES;
    default:
        return USE_ESCAPES;
    }
}

static void push_pointer(struct dh_escape *e, LLVMValueRef pointer)
{
    if (!dh_u64_set_add_pointer(&e->seen, pointer))
        return;
    dh_vec_push(&e->work, pointer);
}

static bool walk_finds_escape(struct dh_escape *e, LLVMValueRef local)
{
    int budget = USES_MAX;
    dh_u64_set_clear(&e->seen);
    e->work.n = 0;
    push_pointer(e, local);
    while (e->work.n) {
        LLVMValueRef pointer = e->work.at[--e->work.n];
        for (LLVMUseRef u = LLVMGetFirstUse(pointer); u; u = LLVMGetNextUse(u)) {
            enum use kind = use_of(LLVMGetUser(u), pointer);
            if (kind == USE_ESCAPES || !--budget)
                return true;
            if (kind == USE_FOLLOW)
                push_pointer(e, LLVMGetUser(u));
        }
    }
    return false;
}

/* Counters of coverage and profile instrumentation race by design. */
static bool is_compiler_data(LLVMValueRef global)
{
    size_t n;
    const char *name = LLVMGetValueName2(global, &n);
    return n >= 7 && (!memcmp(name, "__llvm_", 7) || !memcmp(name, "__profc", 7));
}

static bool is_private_base(struct dh_escape *e, LLVMValueRef base)
{
    if (!LLVMIsAAllocaInst(base))
        return LLVMIsAGlobalVariable(base) && is_compiler_data(base);
    uint64_t *known = dh_u64_map_find(&e->locals, (uintptr_t)base);
    if (known)
        return !*known;
    bool escapes = walk_finds_escape(e, base);
    *dh_u64_map_at(&e->locals, (uintptr_t)base) = escapes;
    return !escapes;
}

static bool is_choice(LLVMValueRef v)
{
    return LLVMIsAPHINode(v) || LLVMIsASelectInst(v);
}

static void consider(struct dh_escape *e, LLVMValueRef pointer)
{
    LLVMValueRef base = base_of(pointer);
    if (!dh_u64_set_add_pointer(&e->ways, base))
        return;
    dh_vec_push(&e->bases, base);
}

static void consider_all_of(struct dh_escape *e, LLVMValueRef choice)
{
    if (LLVMIsAPHINode(choice))
        for (unsigned i = 0; i < LLVMCountIncoming(choice); i++)
            consider(e, LLVMGetIncomingValue(choice, i));
    else
        for (unsigned i = 1; i <= 2; i++)
            consider(e, LLVMGetOperand(choice, i));
}

/* For every base that the address may be derived from: a pointer that advances through a buffer (`*to++`) is a phi of
 * its start and its next value. */
static bool holds_for_all(struct dh_escape *e, LLVMValueRef addr, bool (*holds)(struct dh_escape *, LLVMValueRef))
{
    LLVMValueRef base = base_of(addr);
    if (!is_choice(base))
        return holds(e, base);
    dh_u64_set_clear(&e->ways);
    e->bases.n = 0;
    consider(e, base);
    for (size_t i = 0; i < e->bases.n; i++) {
        if (i == WAYS_MAX)
            return false;
        if (is_choice(e->bases.at[i]))
            consider_all_of(e, e->bases.at[i]);
        else if (!holds(e, e->bases.at[i]))
            return false;
    }
    return true;
}

bool dh_escape_is_private(struct dh_escape *e, LLVMValueRef addr)
{
    return holds_for_all(e, addr, is_private_base);
}

static bool has_attribute(LLVMValueRef argument, const char *name)
{
    LLVMValueRef f = LLVMGetParamParent(argument);
    unsigned n = LLVMCountParams(f), kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    for (unsigned i = 0; i < n; i++)
        if (LLVMGetParam(f, i) == argument)
            return LLVMGetEnumAttributeAtIndex(f, i + 1, kind);
    return false;
}

bool dh_escape_is_result(LLVMValueRef addr)
{
    LLVMValueRef base = base_of(addr);
    return LLVMIsAArgument(base) && has_attribute(base, "sret");
}

bool dh_escape_is_copy(struct dh_escape *e, LLVMValueRef addr)
{
    LLVMValueRef base = base_of(addr);
    if (!LLVMIsAArgument(base) || !has_attribute(base, "byval"))
        return false;
    uint64_t *known = dh_u64_map_find(&e->locals, (uintptr_t)base);
    if (known)
        return !*known;
    bool escapes = walk_finds_escape(e, base);
    *dh_u64_map_at(&e->locals, (uintptr_t)base) = escapes;
    return !escapes;
}

static bool loads_vtable_pointer(struct dh_escape *e, LLVMValueRef load)
{
    LLVMValueRef tag = LLVMGetMetadata(load, e->tbaa);
    if (!tag)
        return false;
    uint64_t *known = dh_u64_map_find(&e->vtables, (uintptr_t)tag);
    if (known)
        return *known;
    bool is = dh_tag_names_vtable(tag);
    *dh_u64_map_at(&e->vtables, (uintptr_t)tag) = is;
    return is;
}

static bool is_constant_base(struct dh_escape *e, LLVMValueRef base)
{
    if (LLVMIsAGlobalVariable(base))
        return LLVMIsGlobalConstant(base);
    return LLVMIsALoadInst(base) && loads_vtable_pointer(e, base);
}

bool dh_escape_is_constant(struct dh_escape *e, LLVMValueRef addr)
{
    return holds_for_all(e, addr, is_constant_base);
}
