#include "instrument/strided_loops.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

enum { DEEPEST = 8, STRIDE_MAX = 4095 };

void dh_strided_loops_release(struct dh_strided_loops *r)
{
    dh_u64_map_release(&r->known);
    dh_vec_release(&r->loops);
}

/* ---- counted loops ---- */

static bool is_in(const struct dh_counted_loop *l, LLVMValueRef v)
{
    return LLVMIsAInstruction(v) && LLVMGetInstructionParent(v) == l->block;
}

/* Arithmetic, and accesses that need no hook in the loop. */
static bool only_computes(LLVMBasicBlockRef block, bool with_chosen)
{
    unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(i);
        if (op == LLVMFence || op == LLVMAtomicRMW || op == LLVMAtomicCmpXchg || op == LLVMVAArg)
            return false;
        if ((op == LLVMLoad || op == LLVMStore) &&
            (LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic))
            return false;
        if (!dh_is_call(i) || (with_chosen && dh_hooks_access(i) != DH_HOOK_COUNT))
            continue;
        LLVMAttributeRef effects =
            dh_is_intrinsic_call(i)
                ? LLVMGetEnumAttributeAtIndex(dh_called_function(i), LLVMAttributeFunctionIndex, memory)
                : NULL;
        if (!effects || LLVMGetEnumAttributeValue(effects))
            return false;
    }
    return true;
}

/* `next` = phi + a constant. */
static bool counts(LLVMValueRef phi, LLVMValueRef next, int64_t *step)
{
    if (!LLVMIsABinaryOperator(next) || LLVMGetInstructionOpcode(next) != LLVMAdd || LLVMGetOperand(next, 0) != phi ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1)) || LLVMGetIntTypeWidth(LLVMTypeOf(phi)) > 64)
        return false;
    *step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    return *step && *step >= -STRIDE_MAX && *step <= STRIDE_MAX;
}

static LLVMValueRef incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == from)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

/* The preheader: the only predecessor besides the loop itself. */
static bool find_entry(struct dh_counted_loop *l)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(l->block);
    if (!phi || !LLVMIsAPHINode(phi) || LLVMCountIncoming(phi) != 2)
        return false;
    l->before = LLVMGetIncomingBlock(phi, LLVMGetIncomingBlock(phi, 0) == l->block);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(l->before);
    return l->before != l->block && LLVMIsABranchInst(end) &&
           (!LLVMIsConditional(end) || LLVMGetSuccessor(end, 0) != LLVMGetSuccessor(end, 1));
}

static LLVMIntPredicate turned(LLVMIntPredicate p)
{
    static const LLVMIntPredicate other[][2] = {
        {LLVMIntULT, LLVMIntUGT}, {LLVMIntSLT, LLVMIntSGT}, {LLVMIntULE, LLVMIntUGE}, {LLVMIntSLE, LLVMIntSGE}};
    for (unsigned i = 0; i < 4; i++)
        for (unsigned k = 0; k < 2; k++)
            if (other[i][k] == p)
                return other[i][!k];
    return p;
}

static LLVMIntPredicate opposite(LLVMIntPredicate p)
{
    static const LLVMIntPredicate other[][2] = {{LLVMIntEQ, LLVMIntNE},
                                                {LLVMIntULT, LLVMIntUGE},
                                                {LLVMIntSLT, LLVMIntSGE},
                                                {LLVMIntUGT, LLVMIntULE},
                                                {LLVMIntSGT, LLVMIntSLE}};
    for (unsigned i = 0; i < 5; i++)
        for (unsigned k = 0; k < 2; k++)
            if (other[i][k] == p)
                return other[i][!k];
    return p;
}

static bool find_counter(struct dh_counted_loop *l, LLVMValueRef tested, bool narrow)
{
    if (narrow && is_in(l, tested) && LLVMIsATruncInst(tested)) {
        l->narrow = LLVMTypeOf(tested);
        tested = LLVMGetOperand(tested, 0);
    }
    l->tests_next = !LLVMIsAPHINode(tested);
    if (!is_in(l, tested))
        return false;
    LLVMValueRef phi = l->tests_next ? LLVMGetOperand(tested, 0) : tested;
    if (!LLVMIsAPHINode(phi) || !is_in(l, phi))
        return false;
    l->next = incoming(phi, l->block);
    if ((l->tests_next && l->next != tested) || !counts(phi, l->next, &l->step))
        return false;
    l->phi = phi;
    return true;
}

/* It exits when the counter reaches a loop-invariant bound that it cannot skip. */
static bool can_be_counted(const struct dh_counted_loop *l)
{
    switch (l->narrow && l->stays != LLVMIntNE ? LLVMIntEQ : l->stays) {
    case LLVMIntNE:
        return l->step == 1 || l->step == -1;
    case LLVMIntSLT:
        return l->step > 0 && LLVMGetNSW(l->next);
    case LLVMIntULT:
        return l->step > 0 && LLVMGetNUW(l->next);
    case LLVMIntSGT:
        return l->step < 0 && LLVMGetNSW(l->next);
    default:
        return false;
    }
}

static bool find_end(struct dh_counted_loop *l, bool narrow)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(l->block);
    if (!end || !LLVMIsABranchInst(end) || !LLVMIsConditional(end))
        return false;
    bool first = LLVMGetSuccessor(end, 0) == l->block, second = LLVMGetSuccessor(end, 1) == l->block;
    LLVMValueRef test = LLVMGetCondition(end);
    if (first == second || !LLVMIsAICmpInst(test) || !is_in(l, test) || !find_entry(l))
        return false;
    LLVMValueRef left = LLVMGetOperand(test, 0), right = LLVMGetOperand(test, 1);
    l->stays = first ? LLVMGetICmpPredicate(test) : opposite(LLVMGetICmpPredicate(test));
    if (is_in(l, right)) {
        LLVMValueRef swapped = left;
        left = right;
        right = swapped;
        l->stays = turned(l->stays);
    }
    l->test = test;
    l->bound_at = LLVMGetOperand(test, 1) != right ? 0 : 1;
    return LLVMGetTypeKind(LLVMTypeOf(left)) == LLVMIntegerTypeKind && !is_in(l, right) &&
           find_counter(l, left, narrow) && can_be_counted(l);
}

void dh_strided_loops_enter_function(struct dh_strided_loops *r, struct dh_pass *pass, LLVMValueRef f)
{
    r->pass = pass;
    r->loops.n = 0;
    dh_u64_map_clear(&r->known);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        struct dh_counted_loop l = {.block = b};
        if (!find_end(&l, r->with_chosen) || !only_computes(b, r->with_chosen))
            continue;
        dh_vec_push(&r->loops, l);
        *dh_u64_map_at(&r->known, (uintptr_t)b) = r->loops.n;
    }
}

/* ---- how an address moves from round to round ---- */

struct walk {
    const struct dh_counted_loop *l;
    LLVMTargetDataRef layout;
};
/* Wrap-around that a narrow counter must not have, because it is extended afterwards. */
enum wrap { MAY_WRAP, NOT_SIGNED, NOT_UNSIGNED };

static bool moves_by(const struct walk *k, LLVMValueRef v, enum wrap wrap, unsigned depth, int64_t *by);

static bool keeps(LLVMValueRef sum, enum wrap wrap)
{
    return wrap == MAY_WRAP || (wrap == NOT_SIGNED ? LLVMGetNSW(sum) : LLVMGetNUW(sum));
}

static bool phi_moves_by(const struct walk *k, LLVMValueRef phi, enum wrap wrap, int64_t *by)
{
    LLVMValueRef next = incoming(phi, k->l->block);
    if (LLVMGetTypeKind(LLVMTypeOf(phi)) == LLVMIntegerTypeKind)
        return counts(phi, next, by) && keeps(next, wrap);
    if (!LLVMIsAGetElementPtrInst(next) || LLVMGetOperand(next, 0) != phi || LLVMGetNumOperands(next) != 2 ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1)))
        return false;
    *by = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1)) *
          (int64_t)LLVMABISizeOfType(k->layout, LLVMGetGEPSourceElementType(next));
    return true;
}

static bool product_moves_by(LLVMValueRef v, int64_t left, int64_t right, int64_t *by)
{
    LLVMValueRef factor = LLVMGetOperand(v, 1);
    bool shift = LLVMGetInstructionOpcode(v) == LLVMShl;
    if (!LLVMIsAConstantInt(factor))
        return !left && !right;
    int64_t n = LLVMConstIntGetSExtValue(factor);
    if (shift ? n < 0 || n > 12 : n < -STRIDE_MAX || n > STRIDE_MAX)
        return false;
    *by = left * (shift ? (int64_t)1 << n : n);
    return true;
}

static bool sum_moves_by(const struct walk *k, LLVMValueRef v, enum wrap wrap, unsigned depth, int64_t *by)
{
    int64_t left, right;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if ((op != LLVMAdd && op != LLVMSub && op != LLVMMul && op != LLVMShl) || !keeps(v, wrap) ||
        !moves_by(k, LLVMGetOperand(v, 0), wrap, depth + 1, &left) ||
        !moves_by(k, LLVMGetOperand(v, 1), wrap, depth + 1, &right))
        return false;
    if (op != LLVMAdd && op != LLVMSub)
        return product_moves_by(v, left, right, by);
    *by = op == LLVMAdd ? left + right : left - right;
    return true;
}

/* The type that index `i` of a getelementptr chooses in; NULL where an index cannot move. */
static LLVMTypeRef within(LLVMTypeRef type, LLVMValueRef index)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMStructTypeKind:
        return LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
    case LLVMArrayTypeKind:
        return LLVMGetElementType(type);
    default:
        return NULL;
    }
}

static bool address_moves_by(const struct walk *k, LLVMValueRef gep, unsigned depth, int64_t *by)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int64_t index;
    if (!moves_by(k, LLVMGetOperand(gep, 0), MAY_WRAP, depth + 1, by))
        return false;
    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef v = LLVMGetOperand(gep, (unsigned)i);
        bool member = i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind;
        if (i > 1 && !(type = within(type, v)))
            return false;
        if (member)
            continue;
        bool wide = LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 64;
        if (!moves_by(k, v, wide ? MAY_WRAP : NOT_SIGNED, depth + 1, &index))
            return false;
        *by += index * (int64_t)LLVMABISizeOfType(k->layout, type);
    }
    return true;
}

static bool moves_by(const struct walk *k, LLVMValueRef v, enum wrap wrap, unsigned depth, int64_t *by)
{
    *by = 0;
    if (!is_in(k->l, v))
        return true;
    if (depth > DEEPEST)
        return false;
    if (LLVMIsAPHINode(v))
        return phi_moves_by(k, v, wrap, by);
    if (LLVMIsAGetElementPtrInst(v))
        return address_moves_by(k, v, depth, by);
    if (LLVMIsASExtInst(v))
        return moves_by(k, LLVMGetOperand(v, 0), NOT_SIGNED, depth + 1, by);
    if (LLVMIsAZExtInst(v))
        return moves_by(k, LLVMGetOperand(v, 0), NOT_UNSIGNED, depth + 1, by);
    return LLVMIsABinaryOperator(v) && sum_moves_by(k, v, wrap, depth, by);
}

/* ---- operands of the range hook, computed before the loop ---- */

/* The value in the first iteration; only of values that moves_by accepted. */
static LLVMValueRef at_first(struct dh_strided_loops *r, const struct dh_counted_loop *l, LLVMValueRef v)
{
    if (!is_in(l, v))
        return v;
    if (LLVMIsAPHINode(v))
        return incoming(v, l->before);
    LLVMValueRef copy = LLVMInstructionClone(v);
    for (int i = 0; i < LLVMGetNumOperands(v); i++)
        LLVMSetOperand(copy, (unsigned)i, at_first(r, l, LLVMGetOperand(v, (unsigned)i)));
    LLVMInsertIntoBuilder(r->pass->b, copy);
    return copy;
}

static LLVMValueRef widened(struct dh_strided_loops *r, const struct dh_counted_loop *l, LLVMValueRef v)
{
    if (LLVMTypeOf(v) == r->pass->i64)
        return v;
    return l->stays == LLVMIntSLT || l->stays == LLVMIntSGT ? LLVMBuildSExt(r->pass->b, v, r->pass->i64, "")
                                                            : LLVMBuildZExt(r->pass->b, v, r->pass->i64, "");
}

/* Asked for when they are needed: a hook may have replaced the instruction, an atomic load, that they were. */
static LLVMValueRef start_of(const struct dh_counted_loop *l)
{
    return incoming(l->phi, l->before);
}

static LLVMValueRef bound_of(const struct dh_counted_loop *l)
{
    return LLVMGetOperand(l->test, l->bound_at);
}

/* Computed in the counter's width, since the counter may wrap around on the way to the bound. */
static LLVMValueRef distance(struct dh_strided_loops *r, const struct dh_counted_loop *l)
{
    LLVMBuilderRef b = r->pass->b;
    bool up = l->step > 0;
    if (l->stays == LLVMIntNE) {
        LLVMValueRef from = l->narrow ? LLVMBuildTrunc(b, start_of(l), l->narrow, "") : start_of(l);
        return widened(r, l, up ? LLVMBuildSub(b, bound_of(l), from, "") : LLVMBuildSub(b, from, bound_of(l), ""));
    }
    LLVMValueRef start = widened(r, l, start_of(l)), bound = widened(r, l, bound_of(l));
    return up ? LLVMBuildSub(b, bound, start, "") : LLVMBuildSub(b, start, bound, "");
}

/* The body runs at least once; a loop that tests the phi instead of the incremented value runs once more. */
static LLVMValueRef count_rounds(struct dh_strided_loops *r, const struct dh_counted_loop *l)
{
    LLVMBuilderRef b = r->pass->b;
    LLVMValueRef n = distance(r, l), one = dh_pass_u64(r->pass, 1), zero = dh_pass_u64(r->pass, 0);
    if (l->stays != LLVMIntNE) {
        int64_t step = l->step > 0 ? l->step : -l->step;
        LLVMValueRef least = l->tests_next ? one : zero;
        LLVMValueRef few =
            LLVMBuildICmp(b, l->stays == LLVMIntULT && l->tests_next ? LLVMIntULT : LLVMIntSLT, n, least, "");
        n = LLVMBuildAdd(b, n, dh_pass_u64(r->pass, (uint64_t)step - 1), "");
        n = step > 1 ? LLVMBuildUDiv(b, n, dh_pass_u64(r->pass, (uint64_t)step), "") : n;
        n = LLVMBuildSelect(b, few, least, n, "");
    }
    return l->tests_next ? n : LLVMBuildAdd(b, n, one, "");
}

/* 0 when the loop is not entered. */
static LLVMValueRef rounds_of(struct dh_strided_loops *r, struct dh_counted_loop *l)
{
    if (l->rounds)
        return l->rounds;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(l->before), n = count_rounds(r, l);
    if (LLVMIsConditional(end)) {
        LLVMValueRef zero = dh_pass_u64(r->pass, 0);
        bool first = LLVMGetSuccessor(end, 0) == l->block;
        n = LLVMBuildSelect(r->pass->b, LLVMGetCondition(end), first ? n : zero, first ? zero : n, "");
    }
    return l->rounds = LLVMBuildFreeze(r->pass->b, n, "");
}

bool dh_strided_loops_find(struct dh_strided_loops *r, const struct dh_memop *a, struct dh_strided_access *run)
{
    uint64_t *known = dh_u64_map_find(&r->known, (uintptr_t)LLVMGetInstructionParent(a->at));
    if (!known || (a->bytes != 4 && a->bytes != 8) || LLVMGetAlignment(a->at) < a->bytes)
        return false;
    struct dh_counted_loop *l = &r->loops.at[*known - 1];
    struct walk k = {l, r->pass->layout};
    if (!moves_by(&k, a->addr, MAY_WRAP, 0, &run->stride) || run->stride % 4 || run->stride > STRIDE_MAX ||
        run->stride < -STRIDE_MAX || (uint64_t)llabs(run->stride) < a->bytes)
        return false;
    bool first = a->op == DH_OP_WRITE && l->reads;
    run->loop = l;
    LLVMPositionBuilderBefore(r->pass->b, first ? l->reads : LLVMGetBasicBlockTerminator(l->before));
    LLVMSetCurrentDebugLocation2(r->pass->b, LLVMInstructionGetDebugLoc(a->at));
    run->rounds = rounds_of(r, l);
    run->first = LLVMBuildFreeze(r->pass->b, at_first(r, l, a->addr), "");
    return true;
}

struct dh_counted_loop *dh_strided_loops_stride(struct dh_strided_loops *r, LLVMBasicBlockRef block, LLVMValueRef addr,
                                                int64_t *by)
{
    uint64_t *known = dh_u64_map_find(&r->known, (uintptr_t)block);
    struct dh_counted_loop *l = known ? &r->loops.at[*known - 1] : NULL;
    struct walk k = {l, r->pass->layout};
    bool moves = l && moves_by(&k, addr, MAY_WRAP, 0, by) && *by >= -STRIDE_MAX && *by <= STRIDE_MAX;
    return moves ? l : NULL;
}

LLVMValueRef dh_strided_loops_first_address(struct dh_strided_loops *r, const struct dh_counted_loop *l,
                                            LLVMValueRef addr)
{
    return LLVMBuildFreeze(r->pass->b, at_first(r, l, addr), "");
}

LLVMValueRef dh_strided_loops_trip_count(struct dh_strided_loops *r, const struct dh_counted_loop *l)
{
    return LLVMBuildFreeze(r->pass->b, count_rounds(r, l), "");
}

void dh_strided_loops_note_hook(const struct dh_strided_access *run, const struct dh_memop *a, LLVMValueRef hook)
{
    if (a->op == DH_OP_READ && !run->loop->reads)
        run->loop->reads = hook;
}
