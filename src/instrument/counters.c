#include "instrument/counters.h"

#include "event/counters.h"
#include "instrument/hooks.h"
#include "instrument/pass.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

struct counting {
    LLVMModuleRef m;
    LLVMContextRef c;
    LLVMBuilderRef b;
    LLVMTypeRef i64;
    struct dh_site_table sites;
    uint32_t row; /* counters in a row */
    LLVMValueRef counters;
};

/* The counters are defined in one module; the others declare them. */
static LLVMValueRef counters_of(struct counting *t, bool define)
{
    static const char name[] = "__dh_tally_counters";
    LLVMTypeRef all = LLVMArrayType2(t->i64, (uint64_t)t->row * DH_COUNTER_ROWS);
    LLVMValueRef g = LLVMGetNamedGlobal(t->m, name);
    if (g)
        return g;
    g = LLVMAddGlobal(t->m, all, name);
    LLVMSetVisibility(g, LLVMHiddenVisibility);
    LLVMSetAlignment(g, 64);
    if (!define)
        return g;
    LLVMSetInitializer(g, LLVMConstNull(all));
    LLVMTypeRef i32 = LLVMInt32TypeInContext(t->c);
    LLVMValueRef row = LLVMAddGlobal(t->m, i32, "__dh_tally_row");
    LLVMSetInitializer(row, LLVMConstInt(i32, t->row, 0));
    LLVMSetGlobalConstant(row, 1);
    LLVMSetVisibility(row, LLVMHiddenVisibility);
    return g;
}

static struct counting begin_counting(LLVMModuleRef m, const struct dh_site_builder *sites, bool define)
{
    struct counting t = {.m = m, .c = LLVMGetModuleContext(m), .sites = dh_site_builder_view(sites)};
    t.row = dh_counter_row_size(t.sites.n_sites);
    t.i64 = LLVMInt64TypeInContext(t.c);
    t.b = LLVMCreateBuilderInContext(t.c);
    t.counters = counters_of(&t, define);
    return t;
}

/* Row by the stack address, which differs between threads by pages. */
static LLVMValueRef pick_row(struct counting *t)
{
    enum { PAGE_BITS = 12 };
    static const char name[] = "llvm.thread.pointer";
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(t->m, LLVMLookupIntrinsicID(name, strlen(name)), NULL, 0);
    LLVMValueRef at = LLVMBuildCall2(t->b, LLVMGlobalGetValueType(f), f, NULL, 0, "");
    at = LLVMBuildPtrToInt(t->b, at, t->i64, "");
    at = LLVMBuildLShr(t->b, at, LLVMConstInt(t->i64, PAGE_BITS, 0), "");
    at = LLVMBuildAnd(t->b, at, LLVMConstInt(t->i64, DH_COUNTER_ROWS - 1, 0), "");
    return LLVMBuildMul(t->b, at, LLVMConstInt(t->i64, t->row, 0), "");
}

static void add_to_counter(struct counting *t, LLVMValueRef row, uint32_t counter)
{
    LLVMValueRef index = LLVMBuildAdd(t->b, row, LLVMConstInt(t->i64, counter, 0), "");
    LLVMValueRef at = LLVMBuildGEP2(t->b, t->i64, t->counters, &index, 1, "");
    LLVMBuildAtomicRMW(t->b, LLVMAtomicRMWBinOpAdd, at, LLVMConstInt(t->i64, 1, 0), LLVMAtomicOrderingMonotonic, 0);
}

static void count(struct counting *t, LLVMValueRef before, enum dh_counter what, uint32_t site)
{
    LLVMPositionBuilderBefore(t->b, before);
    LLVMSetCurrentDebugLocation2(t->b, LLVMInstructionGetDebugLoc(before));
    LLVMValueRef row = pick_row(t);
    add_to_counter(t, row, what);
    if (site < t->sites.n_sites)
        add_to_counter(t, row, DH_COUNTER_COUNT + site);
}

/* Counting inserts instructions before the current one; each is visited once. */
static void each_instruction(struct counting *t, void (*visit)(struct counting *t, LLVMValueRef f, LLVMValueRef i))
{
    for (LLVMValueRef f = LLVMGetFirstFunction(t->m); f; f = LLVMGetNextFunction(f)) {
        if (dh_hooks_is_hook(f))
            continue;
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef i = LLVMGetFirstInstruction(bb), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                visit(t, f, i);
            }
    }
    LLVMDisposeBuilder(t->b);
}

/* ---- events ---- */

static LLVMValueRef root_of(LLVMValueRef address)
{
    for (;;) {
        bool casts = LLVMIsABitCastInst(address) || LLVMIsAAddrSpaceCastInst(address);
        if (!casts && !LLVMIsAGetElementPtrInst(address))
            return address;
        address = LLVMGetOperand(address, 0);
    }
}

/* `this`, or the first pointer parameter that is not sret. */
static LLVMValueRef object_of(LLVMValueRef f)
{
    unsigned sret = LLVMGetEnumAttributeKindForName("sret", 4);
    for (unsigned n = 0; n < LLVMCountParams(f); n++) {
        LLVMValueRef p = LLVMGetParam(f, n);
        if (LLVMGetTypeKind(LLVMTypeOf(p)) == LLVMPointerTypeKind && !LLVMGetEnumAttributeAtIndex(f, n + 1, sret))
            return p;
    }
    return NULL;
}

static enum dh_counter kind_of(LLVMValueRef f, LLVMValueRef address, bool element)
{
    LLVMValueRef root = root_of(address);
    if (LLVMIsAAllocaInst(root))
        return DH_COUNTER_LOCAL;
    if (element)
        return DH_COUNTER_ARRAY;
    return root == object_of(f) ? DH_COUNTER_FIELD_SELF : DH_COUNTER_FIELD_OTHER;
}

static LLVMValueRef address_of(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMCall: /* copies and fills: what is written */
        return LLVMGetOperand(i, 0);
    case LLVMStore:
        return LLVMGetOperand(i, 1);
    default:
        return NULL;
    }
}

static bool is_monitor(unsigned op)
{
    return (op >= DH_OP_LOCK && op <= DH_OP_UNLOCK) || op == DH_OP_COND_WAIT;
}

static void visit_site(struct counting *t, LLVMValueRef f, LLVMValueRef i, uint32_t site)
{
    const struct dh_site *s = &t->sites.sites[site];
    enum dh_group group = dh_op_info(s->op)->group;
    LLVMValueRef address = address_of(i);
    bool accesses = group == DH_GROUP_ACCESS || group == DH_GROUP_MEMORY || group == DH_GROUP_ATOMIC;
    if (is_monitor(s->op))
        count(t, i, DH_COUNTER_MONITOR, site);
    else if (accesses && address && !(s->flags & DH_SITE_ARTIFICIAL))
        count(t, i, kind_of(f, address, dh_site_is_element(&t->sites, s)), site);
    if (s->op == DH_OP_COPY || s->op == DH_OP_MOVE) {
        LLVMValueRef from = LLVMGetOperand(i, 1);
        count(t, i, kind_of(f, from, dh_site_is_element(&t->sites, s)), DH_NO_SITE);
    }
}

static void visit_call(struct counting *t, LLVMValueRef i)
{
    LLVMValueRef called = LLVMGetCalledValue(i);
    if (LLVMIsAInlineAsm(called) || dh_is_intrinsic_call(i) || dh_hooks_is_hook(called))
        return;
    if (!LLVMIsAFunction(called))
        count(t, i, DH_COUNTER_CALL_VIRTUAL, DH_NO_SITE);
    else if (!LLVMIsDeclaration(called))
        count(t, i, DH_COUNTER_CALL_STATIC, DH_NO_SITE);
}

static void visit_event(struct counting *t, LLVMValueRef f, LLVMValueRef i)
{
    uint32_t site = dh_ir_site_of(i);
    if (site < t->sites.n_sites)
        visit_site(t, f, i, site);
    if (dh_is_call(i) &&
        !LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMGetEnumAttributeKindForName("naked", 5)))
        visit_call(t, i);
}

void dh_count_events(LLVMModuleRef m, const struct dh_site_builder *sites)
{
    struct counting t = begin_counting(m, sites, true);
    each_instruction(&t, visit_event);
}

/* ---- checks ---- */

static const struct {
    enum dh_hook first, last;
    enum dh_counter what;
} checks[] = {
    {DH_HOOK_READ1, DH_HOOK_WRITE_RANGE, DH_COUNTER_CHECK_RACE},
    {DH_HOOK_READ4_SHARED, DH_HOOK_READ8_SHARED, DH_COUNTER_CHECK_RACE},
    {DH_HOOK_READ_UNALIGNED, DH_HOOK_WRITE_UNALIGNED, DH_COUNTER_CHECK_RACE},
    {DH_HOOK_READ_RUN, DH_HOOK_WRITE_RUN, DH_COUNTER_CHECK_RACE}, /* one for all iterations */
    {DH_HOOK_ALIVE_READ, DH_HOOK_ALIVE_WRITE, DH_COUNTER_CHECK_ALIVE},
    {DH_HOOK_SCOPE_READ, DH_HOOK_SCOPE_WRITE_RANGE, DH_COUNTER_CHECK_UNIT},
};

static enum dh_counter check_of(enum dh_hook hook)
{
    for (size_t n = 0; n < sizeof checks / sizeof *checks; n++)
        if (hook >= checks[n].first && hook <= checks[n].last)
            return checks[n].what;
    return DH_COUNTER_COUNT;
}

static void visit_check(struct counting *t, LLVMValueRef f, LLVMValueRef i)
{
    (void)f;
    enum dh_counter what = dh_is_call(i) ? check_of(dh_hooks_which(LLVMGetCalledValue(i))) : DH_COUNTER_COUNT;
    if (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i))
        what = DH_COUNTER_ACCESS;
    if (what != DH_COUNTER_COUNT)
        count(t, i, what, DH_NO_SITE);
}

void dh_count_checks(LLVMModuleRef m, const struct dh_site_builder *sites)
{
    struct counting t = begin_counting(m, sites, true);
    each_instruction(&t, visit_check);
}

/* ---- what is left to the runtime ---- */

/* Hooks that are calls still, and what the inlined part of the others calls (inline/race.c, inline/scopes.c). */
static enum dh_counter descent_of(LLVMValueRef called)
{
    static const char slow[] = "_slow", read[] = DH_HOOK_PREFIX "read", write[] = DH_HOOK_PREFIX "write",
                      unit[] = DH_HOOK_PREFIX "unit_";
    size_t n;
    if (!dh_hooks_is_hook(called))
        return DH_COUNTER_COUNT;
    const char *name = LLVMGetValueName2(called, &n);
    if (!strncmp(name, unit, sizeof unit - 1))
        return DH_COUNTER_RUNTIME_UNIT;
    bool slows = n > sizeof slow && !strcmp(name + n - (sizeof slow - 1), slow);
    bool races = !strncmp(name, read, sizeof read - 1) || !strncmp(name, write, sizeof write - 1);
    enum dh_counter hook = check_of(dh_hooks_which(called));
    return (slows && races) || hook == DH_COUNTER_CHECK_RACE || hook == DH_COUNTER_CHECK_ALIVE ? DH_COUNTER_RUNTIME_RACE
                                                                                               : DH_COUNTER_COUNT;
}

static void visit_descent(struct counting *t, LLVMValueRef f, LLVMValueRef i)
{
    (void)f;
    enum dh_counter what = dh_is_call(i) ? descent_of(LLVMGetCalledValue(i)) : DH_COUNTER_COUNT;
    if (what != DH_COUNTER_COUNT)
        count(t, i, what, DH_NO_SITE);
}

void dh_count_slow_paths(LLVMModuleRef m, const struct dh_site_builder *sites)
{
    struct counting t = begin_counting(m, sites, false);
    each_instruction(&t, visit_descent);
}
