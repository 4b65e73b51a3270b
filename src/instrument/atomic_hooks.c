#include "instrument/atomic_hooks.h"

#include "event/hooks.h"
#include "instrument/value_bits.h"
#include "ir/sites.h"

#include <stdio.h>
#include <string.h>

enum { SIZES = 5 };

/* The row of a size in each group of hooks. */
static int row_of(uint64_t bytes)
{
    static const uint64_t sizes[SIZES] = {1, 2, 4, 8, 16};
    for (int i = 0; i < SIZES; i++)
        if (sizes[i] == bytes)
            return i;
    return -1;
}

static bool can_replace(const struct dh_memop *a)
{
    return row_of(a->bytes) >= 0 && dh_value_is_scalar(a->type) && LLVMGetAlignment(a->at) >= a->bytes;
}

/* The atomic being replaced. */
struct replacing {
    struct dh_pass *pass;
    const struct dh_memop *a;
    LLVMValueRef what, place;
    LLVMTypeRef bits;
    int row;
};

static LLVMValueRef bits_of(const struct replacing *r, LLVMValueRef v)
{
    return dh_value_to_bits(r->pass->b, v, r->bits);
}

static LLVMValueRef call(const struct replacing *r, enum dh_hook first, LLVMValueRef *args)
{
    return dh_hooks_call(&r->pass->hooks, r->pass->b, first + r->row, args);
}

static LLVMValueRef replace_load(const struct replacing *r)
{
    LLVMValueRef args[] = {r->a->addr, r->what, r->place};
    return dh_value_from_bits(r->pass->b, call(r, DH_HOOK_ATOMIC_LOAD1, args), r->a->type);
}

static LLVMValueRef replace_store(const struct replacing *r)
{
    LLVMValueRef args[] = {r->a->addr, bits_of(r, LLVMGetOperand(r->a->at, 0)), r->what, r->place};
    call(r, DH_HOOK_ATOMIC_STORE1, args);
    return NULL;
}

/* The instruction's result pair: old value, and whether it was as expected. */
static LLVMValueRef replace_cas(const struct replacing *r)
{
    LLVMBuilderRef b = r->pass->b;
    LLVMValueRef expected = bits_of(r, LLVMGetOperand(r->a->at, 1));
    enum dh_order failure = dh_ir_order(LLVMGetCmpXchgFailureOrdering(r->a->at));
    LLVMValueRef args[] = {
        r->a->addr, expected, bits_of(r, LLVMGetOperand(r->a->at, 2)), r->what, dh_pass_u32(r->pass, failure),
        r->place};
    LLVMValueRef old = call(r, DH_HOOK_ATOMIC_CAS1, args);
    LLVMValueRef won = LLVMBuildICmp(b, LLVMIntEQ, old, expected, "");
    LLVMValueRef pair = LLVMGetPoison(LLVMTypeOf(r->a->at));
    pair = LLVMBuildInsertValue(b, pair, dh_value_from_bits(b, old, r->a->type), 0, "");
    return LLVMBuildInsertValue(b, pair, won, 1, "");
}

/* ---- rmw ---- */

static const int integer_rmw[] = {
    [LLVMAtomicRMWBinOpXchg] = DH_RMW_XCHG,
    [LLVMAtomicRMWBinOpAdd] = DH_RMW_ADD,
    [LLVMAtomicRMWBinOpSub] = DH_RMW_SUB,
    [LLVMAtomicRMWBinOpAnd] = DH_RMW_AND,
    [LLVMAtomicRMWBinOpNand] = DH_RMW_NAND,
    [LLVMAtomicRMWBinOpOr] = DH_RMW_OR,
    [LLVMAtomicRMWBinOpXor] = DH_RMW_XOR,
    [LLVMAtomicRMWBinOpMax] = DH_RMW_MAX,
    [LLVMAtomicRMWBinOpMin] = DH_RMW_MIN,
    [LLVMAtomicRMWBinOpUMax] = DH_RMW_UMAX,
    [LLVMAtomicRMWBinOpUMin] = DH_RMW_UMIN,
    [LLVMAtomicRMWBinOpFAdd] = -1,
    [LLVMAtomicRMWBinOpFSub] = -1,
    [LLVMAtomicRMWBinOpFMax] = -1,
    [LLVMAtomicRMWBinOpFMin] = -1,
    [LLVMAtomicRMWBinOpUIncWrap] = DH_RMW_UINC_WRAP,
    [LLVMAtomicRMWBinOpUDecWrap] = DH_RMW_UDEC_WRAP,
};

static LLVMValueRef build_float_op(LLVMModuleRef m, LLVMBuilderRef b, LLVMAtomicRMWBinOp op, LLVMValueRef x,
                                   LLVMValueRef y)
{
    if (op == LLVMAtomicRMWBinOpFAdd)
        return LLVMBuildFAdd(b, x, y, "");
    if (op == LLVMAtomicRMWBinOpFSub)
        return LLVMBuildFSub(b, x, y, "");
    const char *name = op == LLVMAtomicRMWBinOpFMax ? "llvm.maxnum" : "llvm.minnum";
    LLVMTypeRef t = LLVMTypeOf(x);
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef args[] = {x, y}, f = LLVMGetIntrinsicDeclaration(m, id, &t, 1);
    return LLVMBuildCall2(b, LLVMIntrinsicGetType(LLVMGetModuleContext(m), id, &t, 1), f, args, 2, "");
}

/* T f(ptr addr, T operand, i32 what, i32 place): guesses the old value and compare-exchanges until it was right. Only
 * the exchange that succeeds counts, as the rmw. */
static void build_loop(const struct replacing *r, LLVMValueRef f, LLVMAtomicRMWBinOp op)
{
    LLVMContextRef c = r->pass->c;
    LLVMBuilderRef b = LLVMCreateBuilderInContext(c);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c, f, ""), loop = LLVMAppendBasicBlockInContext(c, f, ""),
                      done = LLVMAppendBasicBlockInContext(c, f, "");
    LLVMValueRef addr = LLVMGetParam(f, 0);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef guess = LLVMBuildLoad2(b, r->bits, addr, "");
    LLVMSetOrdering(guess, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(guess, (unsigned)r->a->bytes);
    LLVMBuildBr(b, loop);
    LLVMPositionBuilderAtEnd(b, loop);
    LLVMValueRef old = LLVMBuildPhi(b, r->bits, ""), value = dh_value_from_bits(b, old, r->a->type);
    LLVMValueRef next = build_float_op(r->pass->m, b, op, value, LLVMGetParam(f, 1));
    LLVMValueRef args[] = {addr,
                           old,
                           dh_value_to_bits(b, next, r->bits),
                           LLVMGetParam(f, 2),
                           dh_pass_u32(r->pass, DH_ORDER_NONE),
                           LLVMGetParam(f, 3)};
    LLVMValueRef seen = dh_hooks_call(&r->pass->hooks, b, DH_HOOK_ATOMIC_CAS1 + r->row, args);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, seen, old, ""), done, loop);
    LLVMValueRef from[] = {guess, seen};
    LLVMAddIncoming(old, from, (LLVMBasicBlockRef[]){entry, loop}, 2);
    LLVMPositionBuilderAtEnd(b, done);
    LLVMBuildRet(b, value);
    LLVMDisposeBuilder(b);
}

static LLVMValueRef replace_float_rmw(const struct replacing *r, LLVMAtomicRMWBinOp op)
{
    struct dh_pass *pass = r->pass;
    char name[64], *type = LLVMPrintTypeToString(r->a->type);
    snprintf(name, sizeof name, DH_HOOK_PREFIX "rmw_%d_%s", (int)op, type);
    LLVMDisposeMessage(type);
    LLVMTypeRef params[] = {pass->ptr, r->a->type, pass->i32, pass->i32},
                t = LLVMFunctionType(r->a->type, params, 4, false);
    LLVMValueRef f = LLVMGetNamedFunction(pass->m, name);
    if (!f) {
        f = LLVMAddFunction(pass->m, name, t);
        LLVMSetLinkage(f, LLVMInternalLinkage);
        dh_u64_set_add_pointer(&pass->off_limits, f);
        build_loop(r, f, op);
    }
    LLVMValueRef args[] = {r->a->addr, LLVMGetOperand(r->a->at, 1), r->what, r->place};
    return LLVMBuildCall2(pass->b, t, f, args, 4, "");
}

static LLVMValueRef replace_rmw(const struct replacing *r)
{
    LLVMAtomicRMWBinOp op = LLVMGetAtomicRMWBinOp(r->a->at);
    int rmw = integer_rmw[op];
    if (rmw < 0)
        return replace_float_rmw(r, op);
    LLVMValueRef args[] = {r->a->addr, bits_of(r, LLVMGetOperand(r->a->at, 1)), r->what,
                           dh_pass_u32(r->pass, (uint32_t)rmw), r->place};
    return dh_value_from_bits(r->pass->b, call(r, DH_HOOK_ATOMIC_RMW1, args), r->a->type);
}

static void replace(struct dh_pass *pass, const struct dh_memop *a, LLVMValueRef place)
{
    struct replacing r = {.pass = pass,
                          .a = a,
                          .what = dh_pass_u32(pass, dh_memop_what(a)),
                          .place = place,
                          .bits = LLVMIntTypeInContext(pass->c, (unsigned)a->bytes * 8),
                          .row = row_of(a->bytes)};
    LLVMValueRef result = a->op == DH_OP_ATOMIC_LOAD    ? replace_load(&r)
                          : a->op == DH_OP_ATOMIC_STORE ? replace_store(&r)
                          : a->op == DH_OP_ATOMIC_CAS   ? replace_cas(&r)
                                                        : replace_rmw(&r);
    if (result)
        LLVMReplaceAllUsesWith(a->at, result);
    LLVMInstructionEraseFromParent(a->at);
}

void dh_atomics_place(struct dh_pass *pass, const struct dh_memop *a, LLVMValueRef place)
{
    if (LLVMIsAtomicSingleThread(a->at))
        return;
    if (can_replace(a))
        replace(pass, a, place);
    else
        dh_hooks_call(&pass->hooks, pass->b, DH_HOOK_CALL, &place);
}
