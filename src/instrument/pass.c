#include "instrument/pass.h"

#include "ir/annotations.h"
#include "ir/sites.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* ---- functions in which nothing may stand ---- */

static const char *const forbidding[] = {"naked"};
/* String attributes: such functions save registers by hand, a call from them would not. */
static const char *const forbidding_strings[] = {"no_caller_saved_registers", "interrupt"};
enum { CALLING_CONVENTION_X86_INTERRUPT = 83 };

bool dh_function_has(LLVMValueRef function, const char *attribute)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    return LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

static bool is_forbidden(LLVMValueRef f)
{
    for (size_t i = 0; i < sizeof forbidding / sizeof *forbidding; i++)
        if (dh_function_has(f, forbidding[i]))
            return true;
    for (size_t i = 0; i < sizeof forbidding_strings / sizeof *forbidding_strings; i++)
        if (LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, forbidding_strings[i],
                                          (unsigned)strlen(forbidding_strings[i])))
            return true;
    return LLVMGetFunctionCallConv(f) == CALLING_CONVENTION_X86_INTERRUPT || dh_hooks_is_hook(f);
}

bool dh_function_is_unchecked(LLVMValueRef f)
{
    return dh_function_has(f, "disable_sanitizer_instrumentation") ||
           LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, DH_NO_CHECK_ATTRIBUTE,
                                         (unsigned)strlen(DH_NO_CHECK_ATTRIBUTE));
}

/* Resolvers run while the dynamic linker still relocates, and so do their own helpers: no hook can be called. */
static void forbid_resolver(struct dh_pass *pass, LLVMValueRef f)
{
    if (!dh_u64_set_add_pointer(&pass->off_limits, f))
        return;
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = dh_is_call(i) ? dh_called_function(i) : NULL;
            if (callee && !LLVMIsDeclaration(callee) && LLVMGetLinkage(callee) == LLVMInternalLinkage)
                forbid_resolver(pass, callee);
        }
}

static LLVMValueRef resolver_of(LLVMValueRef ifunc)
{
    LLVMValueRef r = LLVMGetGlobalIFuncResolver(ifunc);
    while (r && LLVMIsAGlobalAlias(r))
        r = LLVMAliasGetAliasee(r);
    return r && LLVMIsAFunction(r) ? r : NULL;
}

static void find_off_limits(struct dh_pass *pass)
{
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(pass->m); i; i = LLVMGetNextGlobalIFunc(i)) {
        LLVMValueRef resolver = resolver_of(i);
        if (resolver)
            forbid_resolver(pass, resolver);
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(pass->m); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && is_forbidden(f))
            dh_u64_set_add_pointer(&pass->off_limits, f);
}

bool dh_pass_may_instrument(const struct dh_pass *pass, LLVMValueRef f)
{
    return !LLVMIsDeclaration(f) && !dh_u64_set_has_pointer(&pass->off_limits, f);
}

/* ---- life ---- */

bool dh_pass_init(struct dh_pass *pass, LLVMModuleRef m, const struct dh_plan *plan, struct dh_places *places,
                  struct dh_err *err)
{
    LLVMContextRef c = LLVMGetModuleContext(m);
    *pass = (struct dh_pass){
        .m = m,
        .c = c,
        .layout = LLVMGetModuleDataLayout(m),
        .plan = plan,
        .places = places,
        .i32 = LLVMInt32TypeInContext(c),
        .i64 = LLVMInt64TypeInContext(c),
        .ptr = LLVMPointerTypeInContext(c, 0),
    };
    if (!dh_hooks_init(&pass->hooks, m, err))
        return dh_err_while(err, "placing hooks");
    pass->b = LLVMCreateBuilderInContext(c);
    find_off_limits(pass);
    return true;
}

void dh_pass_release(struct dh_pass *pass)
{
    if (pass->b)
        LLVMDisposeBuilder(pass->b);
    dh_u64_set_release(&pass->off_limits);
}

/* ---- calls ---- */

bool dh_is_call(LLVMValueRef i)
{
    LLVMOpcode op = LLVMGetInstructionOpcode(i);
    return op == LLVMCall || op == LLVMInvoke || op == LLVMCallBr;
}

LLVMValueRef dh_called_function(LLVMValueRef call)
{
    return LLVMIsAFunction(LLVMGetCalledValue(call));
}

bool dh_is_intrinsic_call(LLVMValueRef i)
{
    LLVMValueRef f = dh_is_call(i) ? dh_called_function(i) : NULL;
    return f && LLVMGetIntrinsicID(f);
}

bool dh_is_musttail(LLVMValueRef i)
{
    return LLVMGetInstructionOpcode(i) == LLVMCall && LLVMGetTailCallKind(i) == LLVMTailCallKindMustTail;
}

bool dh_call_has(LLVMValueRef call, LLVMAttributeIndex where, const char *attribute)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    if (LLVMGetCallSiteEnumAttribute(call, where, kind))
        return true;
    LLVMValueRef f = dh_called_function(call);
    return f && LLVMGetEnumAttributeAtIndex(f, where, kind);
}

/* ---- accesses ---- */

static void describe(const struct dh_pass *pass, struct dh_memop *a, unsigned addr, LLVMTypeRef type)
{
    a->addr = LLVMGetOperand(a->at, addr);
    a->type = type;
    a->bytes = LLVMStoreSizeOfType(pass->layout, type);
    a->kind = a->order == DH_ORDER_NONE ? DH_MEMOP_PLAIN : DH_MEMOP_ATOMIC;
}

static void describe_memory(struct dh_memop *a)
{
    bool set = LLVMIsAMemSetInst(a->at) != NULL;
    a->kind = DH_MEMOP_MEMORY;
    a->op = set ? DH_OP_SET : LLVMIsAMemMoveInst(a->at) ? DH_OP_MOVE : DH_OP_COPY;
    a->addr = LLVMGetOperand(a->at, 0);
    a->src = set ? NULL : LLVMGetOperand(a->at, 1);
    a->size = LLVMGetOperand(a->at, 2);
    if (LLVMIsAConstantInt(a->size))
        a->bytes = LLVMConstIntGetZExtValue(a->size);
}

static void describe_call(struct dh_memop *a)
{
    if (LLVMIsAMemIntrinsic(a->at))
        describe_memory(a);
    else if (!dh_is_intrinsic_call(a->at))
        a->kind = DH_MEMOP_CALL;
}

bool dh_memop_of(const struct dh_pass *pass, LLVMValueRef i, struct dh_memop *a)
{
    *a = (struct dh_memop){.at = i};
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
        a->order = dh_ir_order(LLVMGetOrdering(i));
        a->op = a->order ? DH_OP_ATOMIC_LOAD : DH_OP_READ;
        describe(pass, a, 0, LLVMTypeOf(i));
        break;
    case LLVMStore:
        a->order = dh_ir_order(LLVMGetOrdering(i));
        a->op = a->order ? DH_OP_ATOMIC_STORE : DH_OP_WRITE;
        describe(pass, a, 1, LLVMTypeOf(LLVMGetOperand(i, 0)));
        break;
    case LLVMAtomicRMW:
        a->order = dh_ir_order(LLVMGetOrdering(i));
        a->op = DH_OP_ATOMIC_RMW;
        describe(pass, a, 0, LLVMTypeOf(LLVMGetOperand(i, 1)));
        break;
    case LLVMAtomicCmpXchg:
        a->order = dh_ir_order(LLVMGetCmpXchgSuccessOrdering(i));
        a->op = DH_OP_ATOMIC_CAS;
        describe(pass, a, 0, LLVMTypeOf(LLVMGetOperand(i, 2)));
        break;
    case LLVMFence:
        a->order = dh_ir_order(LLVMGetOrdering(i));
        a->op = DH_OP_FENCE;
        a->kind = LLVMIsAtomicSingleThread(i) ? DH_MEMOP_NONE : DH_MEMOP_FENCE;
        break;
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        describe_call(a);
        break;
    default:
        break;
    }
    return a->kind != DH_MEMOP_NONE;
}

static bool in_main_memory(LLVMValueRef pointer)
{
    LLVMTypeRef t = LLVMTypeOf(pointer);
    return LLVMGetTypeKind(t) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(t) == 0;
}

bool dh_memop_is_ordinary(const struct dh_memop *a)
{
    if ((a->addr && !in_main_memory(a->addr)) || (a->src && !in_main_memory(a->src)))
        return false;
    LLVMTypeKind kind = a->type ? LLVMGetTypeKind(a->type) : LLVMIntegerTypeKind;
    return kind != LLVMX86_MMXTypeKind && kind != LLVMX86_AMXTypeKind && kind != LLVMTargetExtTypeKind &&
           kind != LLVMScalableVectorTypeKind && kind != LLVMTokenTypeKind;
}

uint32_t dh_memop_what(const struct dh_memop *a)
{
    uint32_t size = a->kind == DH_MEMOP_MEMORY || a->kind == DH_MEMOP_FENCE ? 0
                    : a->bytes > UINT16_MAX                                 ? UINT16_MAX
                                                                            : (uint32_t)a->bytes;
    return (uint32_t)a->op | (uint32_t)a->order << 8 | size << 16 | a->more;
}

void dh_pass_collect_memops(LLVMValueRef f, dh_value_vec *out)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
            switch (LLVMGetInstructionOpcode(i)) {
            case LLVMLoad:
            case LLVMStore:
            case LLVMAtomicRMW:
            case LLVMAtomicCmpXchg:
            case LLVMFence:
                dh_vec_push(out, i);
                break;
            case LLVMCall:
            case LLVMInvoke:
            case LLVMCallBr:
                if (LLVMIsAMemIntrinsic(i) || (!dh_is_intrinsic_call(i) && !dh_hooks_is_hook(LLVMGetCalledValue(i))))
                    dh_vec_push(out, i);
                break;
            default:
                break;
            }
}

/* ---- positions ---- */

void dh_pass_enter_function(struct dh_pass *pass, LLVMValueRef f)
{
    pass->subprogram = LLVMGetSubprogram(f);
}

static void set_location(struct dh_pass *pass, LLVMMetadataRef loc)
{
    /* A call without a location in a function with debug information does not verify once it can be inlined. */
    if (!loc && pass->subprogram)
        loc = LLVMDIBuilderCreateDebugLocation(pass->c, 0, 0, pass->subprogram, NULL);
    LLVMSetCurrentDebugLocation2(pass->b, loc);
}

void dh_pass_position_before(struct dh_pass *pass, LLVMValueRef near)
{
    LLVMPositionBuilderBefore(pass->b, near);
    set_location(pass, LLVMInstructionGetDebugLoc(near));
}

void dh_pass_position_after(struct dh_pass *pass, LLVMValueRef near)
{
    LLVMPositionBuilderBefore(pass->b, LLVMGetNextInstruction(near));
    set_location(pass, LLVMInstructionGetDebugLoc(near));
}

void dh_pass_position_block_start(struct dh_pass *pass, LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMGetInstructionOpcode(i) == LLVMPHI || LLVMGetInstructionOpcode(i) == LLVMLandingPad ||
           LLVMGetInstructionOpcode(i) == LLVMAlloca || LLVMIsADbgInfoIntrinsic(i))
        i = LLVMGetNextInstruction(i);
    LLVMPositionBuilderBefore(pass->b, i);
    set_location(pass, NULL);
}

LLVMValueRef dh_pass_u32(const struct dh_pass *pass, uint32_t value)
{
    return LLVMConstInt(pass->i32, value, false);
}

LLVMValueRef dh_pass_u64(const struct dh_pass *pass, uint64_t value)
{
    return LLVMConstInt(pass->i64, value, false);
}

LLVMValueRef dh_pass_size_u64(struct dh_pass *pass, LLVMValueRef size)
{
    return LLVMTypeOf(size) == pass->i64 ? size : LLVMBuildZExtOrBitCast(pass->b, size, pass->i64, "");
}
