/* Function bodies: one handler per LLVM opcode. */
#include "ir/model_internal.h"
#include "ir/sites.h"
#include "model/mangled_names.h"

#include <string.h>

typedef void read_fn(struct dh_model_reader *r, LLVMValueRef i);

static uint32_t bytes_of(struct dh_model_reader *r, LLVMTypeRef type)
{
    uint64_t n = LLVMStoreSizeOfType(r->layout, type);
    return n > UINT32_MAX ? 0 : (uint32_t)n;
}

/* ---- values ---- */
static void read_slot(struct dh_model_reader *r, LLVMValueRef i)
{
    LLVMValueRef count = LLVMGetOperand(i, 0);
    uint64_t size = LLVMIsAConstantInt(count)
                        ? LLVMABISizeOfType(r->layout, LLVMGetAllocatedType(i)) * LLVMConstIntGetZExtValue(count)
                        : 0;
    dh_emit(r, DH_I_SLOT, dh_read_result(r, i))->size = size > UINT32_MAX ? 0 : (uint32_t)size;
}

static void read_same(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value from = dh_read_value(r, LLVMGetOperand(i, 0));
    uint32_t result = dh_read_result(r, i);
    if (result != DH_NONE)
        dh_emit1(r, DH_I_COPY, result, from);
}

static void read_cast(struct dh_model_reader *r, LLVMValueRef i)
{
    if (LLVMGetInstructionOpcode(i) == LLVMIntToPtr)
        dh_build_limit(r->p, DH_LIMIT_INT_TO_POINTER);
    dh_value from = dh_read_value(r, LLVMGetOperand(i, 0));
    uint32_t result = dh_read_result(r, i);
    if (result != DH_NONE)
        dh_emit1(r, DH_I_COPY, result, from)->flags |= DH_INST_CAST;
}

static void read_address(struct dh_model_reader *r, LLVMValueRef i)
{
    uintptr_t asked = (uintptr_t)dh_ptr_map_find(&r->values, i);
    dh_value address = dh_read_gep(r, i);
    if (!asked) {
        dh_read_bind(r, i, address);
        return;
    }
    dh_emit1(r, DH_I_COPY, (uint32_t)asked - 1, address);
}

static void read_select(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value c = dh_read_value(r, LLVMGetOperand(i, 0)), a = dh_read_value(r, LLVMGetOperand(i, 1)),
             b = dh_read_value(r, LLVMGetOperand(i, 2));
    uint32_t result = dh_read_result(r, i);
    if (result == DH_NONE)
        return;
    dh_emit2(r, DH_I_SELECT, result, c, a);
    dh_build_operand(r->p, b);
}

static enum dh_binary binary_of(LLVMOpcode op)
{
    static const struct {
        LLVMOpcode op;
        enum dh_binary binary;
    } table[] = {{LLVMAdd, DH_BIN_ADD},  {LLVMSub, DH_BIN_SUB},  {LLVMMul, DH_BIN_MUL},  {LLVMUDiv, DH_BIN_DIV},
                 {LLVMSDiv, DH_BIN_DIV}, {LLVMURem, DH_BIN_REM}, {LLVMSRem, DH_BIN_REM}, {LLVMShl, DH_BIN_SHL},
                 {LLVMLShr, DH_BIN_SHR}, {LLVMAShr, DH_BIN_SHR}, {LLVMAnd, DH_BIN_AND},  {LLVMOr, DH_BIN_OR},
                 {LLVMXor, DH_BIN_XOR}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].op == op)
            return table[i].binary;
    return DH_BIN_OTHER;
}

static void read_binary(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value a = dh_read_value(r, LLVMGetOperand(i, 0)), b = dh_read_value(r, LLVMGetOperand(i, 1));
    uint32_t result = dh_read_result(r, i);
    if (result != DH_NONE)
        dh_emit2(r, DH_I_BINARY, result, a, b)->extra = binary_of(LLVMGetInstructionOpcode(i));
}

static enum dh_compare compare_of(LLVMIntPredicate how)
{
    switch (how) {
    case LLVMIntEQ:
        return DH_CMP_EQ;
    case LLVMIntNE:
        return DH_CMP_NE;
    case LLVMIntULT:
    case LLVMIntSLT:
        return DH_CMP_LT;
    case LLVMIntULE:
    case LLVMIntSLE:
        return DH_CMP_LE;
    case LLVMIntUGT:
    case LLVMIntSGT:
        return DH_CMP_GT;
    case LLVMIntUGE:
    case LLVMIntSGE:
        return DH_CMP_GE;
    default:
        return DH_CMP_OTHER;
    }
}

static void read_compare(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value a = dh_read_value(r, LLVMGetOperand(i, 0)), b = dh_read_value(r, LLVMGetOperand(i, 1));
    uint32_t result = dh_read_result(r, i);
    if (result != DH_NONE)
        dh_emit2(r, DH_I_COMPARE, result, a, b)->extra = compare_of(LLVMGetICmpPredicate(i));
}

static void read_mix(struct dh_model_reader *r, LLVMValueRef i)
{
    int n = LLVMGetNumOperands(i);
    dh_value a = dh_read_value(r, LLVMGetOperand(i, 0));
    dh_value b =
        n > 1 && LLVMGetInstructionOpcode(i) != LLVMExtractElement ? dh_read_value(r, LLVMGetOperand(i, 1)) : r->data;
    uint32_t result = dh_read_result(r, i);
    if (result != DH_NONE)
        dh_emit2(r, DH_I_MIX, result, a, b);
}

static void read_extract(struct dh_model_reader *r, LLVMValueRef i)
{
    LLVMValueRef from = LLVMGetOperand(i, 0);
    dh_value value = dh_read_value(r, from);
    uint32_t result = dh_read_result(r, i);
    if (result == DH_NONE)
        return;
    bool cas = LLVMIsAAtomicCmpXchgInst(from);
    if (cas && LLVMGetIndices(i)[0] == 1)
        dh_emit1(r, DH_I_SUCCEEDED, result, value);
    else
        dh_emit1(r, cas ? DH_I_COPY : DH_I_MIX, result, value);
}

/* Incoming blocks are filled in at the end of the function. */
static void read_phi(struct dh_model_reader *r, LLVMValueRef i)
{
    uint32_t result = dh_read_result(r, i);
    if (result == DH_NONE)
        return;
    DH_VEC(dh_value) in = {0};
    for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, k);
        if (!dh_ptr_map_find(&r->blocks, from) || !dh_read_is_feasible_edge(r, from, LLVMGetInstructionParent(i)))
            continue;
        dh_vec_push(&in, dh_read_value(r, LLVMGetIncomingValue(i, k)));
        dh_vec_push(&in, ((struct dh_read_block *)dh_ptr_map_find(&r->blocks, from))->order);
    }
    dh_emit(r, DH_I_PHI, result);
    for (size_t k = 0; k < in.n; k++)
        dh_build_operand(r->p, in.at[k]);
    dh_vec_release(&in);
}

static void read_nothing(struct dh_model_reader *r, LLVMValueRef i)
{
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind)
        return;
    uint32_t result = dh_read_result(r, i);
    if (result != DH_NONE)
        dh_emit1(r, DH_I_COPY, result, r->data);
}

static void read_landing(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value at = dh_build_constant(r->p, DH_CONST_GLOBAL, dh_read_library_variable(r, "exception", true), 0);
    struct dh_inst *load = dh_emit1(r, DH_I_LOAD, dh_read_result(r, i), at);
    load->size = 8;
    load->flags |= DH_INST_SYNTHETIC | DH_INST_LIBRARY;
}

/* ---- memory ---- */
static void read_load(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value at = dh_read_value(r, LLVMGetOperand(i, 0));
    struct dh_inst *load = dh_emit1(r, DH_I_LOAD, dh_read_result(r, i), at);
    load->size = bytes_of(r, LLVMTypeOf(i));
    load->order = (uint8_t)dh_ir_order(LLVMGetOrdering(i));
    load->flags |= LLVMGetVolatile(i) ? DH_INST_VOLATILE : 0;
}

static bool has_pure(LLVMValueRef value, int depth)
{
    size_t n;
    if (LLVMIsAFunction(value))
        return strcmp(LLVMGetValueName2(value, &n), "__cxa_pure_virtual") == 0;
    bool aggregate = LLVMIsAConstantStruct(value) || LLVMIsAConstantArray(value);
    for (int k = 0; aggregate && depth < 4 && k < LLVMGetNumOperands(value); k++)
        if (has_pure(LLVMGetOperand(value, (unsigned)k), depth + 1))
            return true;
    return false;
}

/* An object has the vtable of an abstract class only during construction and destruction. Kept, it would merge all
 * derived classes. */
static bool is_abstract_table(LLVMValueRef value)
{
    size_t n;
    if (LLVMGetValueKind(value) == LLVMConstantExprValueKind && LLVMGetConstOpcode(value) == LLVMGetElementPtr)
        value = LLVMGetOperand(value, 0);
    return LLVMIsAGlobalVariable(value) && dh_mangled_is_vtable(LLVMGetValueName2(value, &n)) &&
           LLVMGetInitializer(value) && has_pure(LLVMGetInitializer(value), 0);
}

/* A fresh unknown value each time. */
static bool is_moving(LLVMValueRef address)
{
    for (int depth = 0; depth < 8 && LLVMIsAGetElementPtrInst(address); depth++) {
        for (unsigned k = 1; k <= LLVMGetNumIndices(address); k++)
            if (!LLVMIsAConstantInt(LLVMGetOperand(address, k)))
                return true;
        address = LLVMGetOperand(address, 0);
    }
    return LLVMIsAPHINode(address) || LLVMIsASelectInst(address);
}

/* In strict mode: a bytewise copy copies pointers, too. */
static void read_narrow_copy(struct dh_model_reader *r, LLVMValueRef store)
{
    LLVMValueRef v = LLVMGetOperand(store, 0), to = LLVMGetOperand(store, 1);
    if (!r->strict || !LLVMIsALoadInst(v) || bytes_of(r, LLVMTypeOf(v)) >= 8 ||
        !(is_moving(to) || is_moving(LLVMGetOperand(v, 0))))
        return;
    dh_value at = dh_read_value(r, to), from = dh_read_value(r, LLVMGetOperand(v, 0));
    struct dh_inst *copy = dh_emit2(r, DH_I_MEMCPY, DH_NONE, at, from);
    dh_build_operand(r->p, r->data);
    copy->site = DH_NO_SITE;
    copy->flags |= DH_INST_SYNTHETIC;
}

static void read_store(struct dh_model_reader *r, LLVMValueRef i)
{
    read_narrow_copy(r, i);
    dh_value v =
        !r->strict && is_abstract_table(LLVMGetOperand(i, 0)) ? r->data : dh_read_value(r, LLVMGetOperand(i, 0));
    dh_value at = dh_read_value(r, LLVMGetOperand(i, 1));
    struct dh_inst *store = dh_emit2(r, DH_I_STORE, DH_NONE, at, v);
    store->size = bytes_of(r, LLVMTypeOf(LLVMGetOperand(i, 0)));
    store->order = (uint8_t)dh_ir_order(LLVMGetOrdering(i));
    store->flags |= LLVMGetVolatile(i) ? DH_INST_VOLATILE : 0;
}

static enum dh_binary rmw_of(LLVMAtomicRMWBinOp op)
{
    switch (op) {
    case LLVMAtomicRMWBinOpXchg:
        return DH_BIN_XCHG;
    case LLVMAtomicRMWBinOpAdd:
        return DH_BIN_ADD;
    case LLVMAtomicRMWBinOpSub:
        return DH_BIN_SUB;
    case LLVMAtomicRMWBinOpAnd:
        return DH_BIN_AND;
    case LLVMAtomicRMWBinOpOr:
        return DH_BIN_OR;
    case LLVMAtomicRMWBinOpXor:
        return DH_BIN_XOR;
    default:
        return DH_BIN_OTHER;
    }
}

static void read_rmw(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value at = dh_read_value(r, LLVMGetOperand(i, 0)), v = dh_read_value(r, LLVMGetOperand(i, 1));
    struct dh_inst *rmw = dh_emit2(r, DH_I_RMW, dh_read_result(r, i), at, v);
    rmw->size = bytes_of(r, LLVMTypeOf(LLVMGetOperand(i, 1)));
    rmw->order = (uint8_t)dh_ir_order(LLVMGetOrdering(i));
    rmw->extra = rmw_of(LLVMGetAtomicRMWBinOp(i));
}

static void read_cas(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value at = dh_read_value(r, LLVMGetOperand(i, 0)), old = dh_read_value(r, LLVMGetOperand(i, 1)),
             new = dh_read_value(r, LLVMGetOperand(i, 2));
    /* Its result is a pair of which the old value is kept: a register even when that is a narrow integer. */
    uintptr_t asked = (uintptr_t)dh_ptr_map_find(&r->values, i);
    uint32_t result = asked ? (uint32_t)asked - 1 : dh_build_register(r->p, dh_read_kind(r, i));
    dh_read_bind(r, i, result);
    struct dh_inst *cas = dh_emit2(r, DH_I_CAS, result, at, old);
    cas->size = bytes_of(r, LLVMTypeOf(LLVMGetOperand(i, 1)));
    cas->order = (uint8_t)dh_ir_order(LLVMGetCmpXchgSuccessOrdering(i));
    dh_build_operand(r->p, new);
}

static void read_fence(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_emit(r, DH_I_FENCE, DH_NONE)->order = (uint8_t)dh_ir_order(LLVMGetOrdering(i));
}

/* ---- ends ---- */
static void add_edge(struct dh_model_reader *r, LLVMBasicBlockRef to)
{
    struct dh_read_block *b = dh_ptr_map_find(&r->blocks, to);
    if (b)
        dh_build_edge(r->p, b->order | DH_EDGE_UNREAD);
}

static void read_br(struct dh_model_reader *r, LLVMValueRef i)
{
    LLVMBasicBlockRef from = LLVMGetInstructionParent(i), yes = LLVMGetSuccessor(i, 0);
    LLVMBasicBlockRef no = LLVMIsConditional(i) ? LLVMGetSuccessor(i, 1) : yes;
    bool both = LLVMIsConditional(i) && dh_read_is_feasible_edge(r, from, yes) &&
                dh_read_is_feasible_edge(r, from, no) && yes != no;
    if (!both) {
        dh_emit(r, DH_I_JUMP, DH_NONE);
        add_edge(r, dh_read_is_feasible_edge(r, from, yes) ? yes : no);
        return;
    }
    dh_value c = dh_read_value(r, LLVMGetCondition(i));
    dh_emit1(r, DH_I_BRANCH, DH_NONE, c);
    add_edge(r, yes);
    add_edge(r, no);
}

static void read_switch(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_value v = dh_read_value(r, LLVMGetOperand(i, 0));
    dh_emit1(r, DH_I_SWITCH, DH_NONE, v);
    add_edge(r, LLVMGetSwitchDefaultDest(i));
    for (unsigned k = 1; k < LLVMGetNumSuccessors(i); k++) {
        dh_build_operand(r->p, dh_read_constant(r, LLVMGetOperand(i, 2 * k)));
        add_edge(r, LLVMGetSuccessor(i, k));
    }
}

static void read_jump_anywhere(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_build_limit(r->p, DH_LIMIT_INDIRECT_JUMP);
    dh_emit(r, DH_I_ANYWHERE, DH_NONE);
    for (unsigned k = 0; k < LLVMGetNumSuccessors(i); k++)
        add_edge(r, LLVMGetSuccessor(i, k));
}

static void read_return(struct dh_model_reader *r, LLVMValueRef i)
{
    if (!LLVMGetNumOperands(i)) {
        dh_emit(r, DH_I_RETURN, DH_NONE);
        return;
    }
    dh_value v = dh_read_value(r, LLVMGetOperand(i, 0));
    dh_emit1(r, DH_I_RETURN, DH_NONE, v);
}

static void read_resume(struct dh_model_reader *r, LLVMValueRef i)
{
    (void)i;
    dh_emit(r, DH_I_THROW, DH_NONE);
}

static void read_stop(struct dh_model_reader *r, LLVMValueRef i)
{
    (void)i;
    dh_emit(r, DH_I_STOP, DH_NONE);
}

static void read_invoke(struct dh_model_reader *r, LLVMValueRef i)
{
    bool returns = dh_read_call(r, i);
    if (!returns && r->throws) {
        dh_emit(r, DH_I_JUMP, DH_NONE);
        add_edge(r, LLVMGetUnwindDest(i));
        return;
    }
    /* A modelled call may throw as well. */
    dh_emit(r, DH_I_UNWINDS, DH_NONE);
    add_edge(r, LLVMGetNormalDest(i));
    add_edge(r, LLVMGetUnwindDest(i));
}

static void read_callbr(struct dh_model_reader *r, LLVMValueRef i)
{
    dh_read_call(r, i);
    read_jump_anywhere(r, i);
}

static read_fn *const readers[] = {
    [LLVMAlloca] = read_slot,
    [LLVMBitCast] = read_same,
    [LLVMAddrSpaceCast] = read_same,
    [LLVMFreeze] = read_same,
    [LLVMTrunc] = read_same,
    [LLVMZExt] = read_same,
    [LLVMSExt] = read_same,
    [LLVMIntToPtr] = read_cast,
    [LLVMPtrToInt] = read_cast,
    [LLVMGetElementPtr] = read_address,
    [LLVMSelect] = read_select,
    [LLVMAdd] = read_binary,
    [LLVMSub] = read_binary,
    [LLVMMul] = read_binary,
    [LLVMUDiv] = read_binary,
    [LLVMSDiv] = read_binary,
    [LLVMURem] = read_binary,
    [LLVMSRem] = read_binary,
    [LLVMShl] = read_binary,
    [LLVMLShr] = read_binary,
    [LLVMAShr] = read_binary,
    [LLVMAnd] = read_binary,
    [LLVMOr] = read_binary,
    [LLVMXor] = read_binary,
    [LLVMICmp] = read_compare,
    [LLVMInsertValue] = read_mix,
    [LLVMInsertElement] = read_mix,
    [LLVMExtractElement] = read_mix,
    [LLVMShuffleVector] = read_mix,
    [LLVMExtractValue] = read_extract,
    [LLVMPHI] = read_phi,
    [LLVMLandingPad] = read_landing,
    [LLVMLoad] = read_load,
    [LLVMStore] = read_store,
    [LLVMAtomicRMW] = read_rmw,
    [LLVMAtomicCmpXchg] = read_cas,
    [LLVMFence] = read_fence,
    [LLVMBr] = read_br,
    [LLVMSwitch] = read_switch,
    [LLVMIndirectBr] = read_jump_anywhere,
    [LLVMRet] = read_return,
    [LLVMResume] = read_resume,
    [LLVMUnreachable] = read_stop,
    [LLVMInvoke] = read_invoke,
    [LLVMCallBr] = read_callbr,
};

static bool is_debug_call(LLVMValueRef i)
{
    LLVMValueRef callee = LLVMGetCalledValue(i);
    size_t n;
    return LLVMIsAFunction(callee) && strncmp(LLVMGetValueName2(callee, &n), "llvm.dbg.", 9) == 0;
}

static void read_block(struct dh_model_reader *r, LLVMBasicBlockRef b)
{
    struct dh_read_block *block = dh_ptr_map_find(&r->blocks, b);
    block->first = dh_emit_block(r);
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
        LLVMOpcode op = LLVMGetInstructionOpcode(i);
        if (op == LLVMCall && is_debug_call(i))
            continue;
        dh_emit_set_place(r, i);
        if (op == LLVMCall) {
            if (dh_read_call(r, i))
                continue;
            dh_emit(r, r->throws ? DH_I_THROW : DH_I_STOP, DH_NONE);
            break;
        }
        read_fn *read = op < sizeof readers / sizeof *readers ? readers[op] : NULL;
        (read ? read : read_nothing)(r, i);
    }
    block->last = r->n_blocks - 1;
}

/* ---- edges and phis, when all blocks are known ---- */
static void settle_edges(struct dh_model_reader *r, const struct dh_read_block *const *by_order)
{
    for (size_t e = r->first_edge; e < r->p->edges.n; e++)
        if (r->p->edges.at[e] & DH_EDGE_UNREAD)
            r->p->edges.at[e] = by_order[r->p->edges.at[e] & ~DH_EDGE_UNREAD]->first;
}

static void settle_phis(struct dh_model_reader *r, const struct dh_read_block *const *by_order)
{
    for (uint32_t b = r->p->functions.at[r->index].block; b < r->p->blocks.n; b++)
        for (uint32_t n = 0; n < r->p->blocks.at[b].n_insts; n++) {
            struct dh_inst *i = &r->p->insts.at[r->p->blocks.at[b].inst + n];
            for (uint32_t o = 1; i->op == DH_I_PHI && o < i->n_operands; o += 2)
                r->p->operands.at[i->operand + o] = by_order[r->p->operands.at[i->operand + o]]->last;
        }
}

static void settle(struct dh_model_reader *r)
{
    DH_VEC(const struct dh_read_block *) by_order = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b)) {
        const struct dh_read_block *block = dh_ptr_map_find(&r->blocks, b);
        if (block)
            dh_vec_push(&by_order, block);
    }
    settle_edges(r, by_order.at);
    settle_phis(r, by_order.at);
    dh_vec_release(&by_order);
}

static void read_parameters(struct dh_model_reader *r)
{
    unsigned n = LLVMCountParams(r->function);
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef v = LLVMGetParam(r->function, k);
        dh_read_bind(r, v, dh_build_register(r->p, dh_read_kind(r, v)));
    }
    r->varargs = DH_NONE;
    if (r->p->functions.at[r->index].flags & DH_FUNCTION_VARIADIC)
        r->varargs = dh_build_register(r->p, DH_REG_POINTER);
}

void dh_read_body(struct dh_model_reader *r, LLVMValueRef function, uint32_t index)
{
    r->function = function;
    r->index = index;
    r->n_blocks = 0;
    dh_ptr_map_clear(&r->values);
    dh_arena_clear(&r->body);
    dh_read_reachable_blocks(r);
    dh_read_pointer_integers(r);
    dh_build_body(r->p, index);
    r->first_edge = (uint32_t)r->p->edges.n;
    read_parameters(r);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        if (dh_ptr_map_find(&r->blocks, b))
            read_block(r, b);
    settle(r);
}
