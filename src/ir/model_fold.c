/* Constant folding of branch conditions, above all of libstdc++'s tests whether the program is threaded: with both
 * branches its wrappers of locks and reference counts would look like something else. */
#include "base/str.h"
#include "ir/model_internal.h"
#include "model/mangled_names.h"

#include <string.h>

enum { DEEPEST_FOLD = 8 };

struct folded {
    bool constant;
    int64_t number;
};

static bool fold(struct dh_model_reader *r, LLVMValueRef v, int depth, int64_t *number);

/* What a small function always returns. */
static bool fold_function(struct dh_model_reader *r, LLVMValueRef f, int depth, int64_t *number)
{
    struct folded *known = dh_ptr_map_find(&r->folded, f);
    if (!known) {
        known = dh_arena_take(&r->arena, sizeof *known);
        *dh_ptr_map_at(&r->folded, f) = known;
        LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f);
        LLVMValueRef end = b && !LLVMGetNextBasicBlock(b) ? LLVMGetBasicBlockTerminator(b) : NULL;
        if (end && LLVMGetInstructionOpcode(end) == LLVMRet && LLVMGetNumOperands(end) == 1)
            known->constant = fold(r, LLVMGetOperand(end, 0), depth + 1, &known->number);
    }
    *number = known->number;
    return known->constant;
}

static bool fold_call(struct dh_model_reader *r, LLVMValueRef call, int depth, int64_t *number)
{
    LLVMValueRef callee = dh_read_strip_alias(LLVMGetCalledValue(call));
    size_t n;
    if (!LLVMIsAFunction(callee))
        return false;
    const char *name = LLVMGetValueName2(callee, &n);
    if (dh_starts_with(name, "llvm.expect"))
        return fold(r, LLVMGetOperand(call, 0), depth + 1, number);
    if (LLVMIsDeclaration(callee)) {
        const struct dh_library_function *f = dh_library_models_find(r->models, name);
        if (!f || f->n_effects != 1 || r->models->effects.at[f->effect].kind != DH_EFFECT_FOLD)
            return false;
        *number = r->models->effects.at[f->effect].number;
        return true;
    }
    return fold_function(r, callee, depth, number);
}

static bool fold_compare(struct dh_model_reader *r, LLVMValueRef v, int depth, int64_t *number)
{
    LLVMValueRef a = LLVMGetOperand(v, 0), b = LLVMGetOperand(v, 1);
    LLVMIntPredicate how = LLVMGetICmpPredicate(v);
    int64_t x, y;
    if (how != LLVMIntEQ && how != LLVMIntNE)
        return false;
    /* Weak references of libstdc++ to functions of the thread library: they are there. */
    if ((LLVMIsAFunction(a) && LLVMIsNull(b)) || (LLVMIsAFunction(b) && LLVMIsNull(a))) {
        *number = how == LLVMIntNE;
        return true;
    }
    if (!fold(r, a, depth + 1, &x) || !fold(r, b, depth + 1, &y))
        return false;
    *number = (x == y) == (how == LLVMIntEQ);
    return true;
}

static bool fold_logic(struct dh_model_reader *r, LLVMValueRef v, int depth, int64_t *number)
{
    int64_t x, y;
    if (LLVMGetInstructionOpcode(v) == LLVMAnd && !r->virtual_members &&
        dh_read_is_member_pointer(LLVMGetOperand(v, 0), 0) && fold(r, LLVMGetOperand(v, 1), depth + 1, &y) && y == 1) {
        *number = 0;
        return true;
    }
    if (!fold(r, LLVMGetOperand(v, 0), depth + 1, &x) || !fold(r, LLVMGetOperand(v, 1), depth + 1, &y))
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAnd:
        *number = x & y;
        return true;
    case LLVMOr:
        *number = x | y;
        return true;
    default:
        *number = x ^ y;
        return true;
    }
}

/* Truncating to one bit keeps zero and one apart, wider ones are kept as they are: enough for flags. */
static bool fold_cast(struct dh_model_reader *r, LLVMValueRef v, int depth, int64_t *number)
{
    if (!fold(r, LLVMGetOperand(v, 0), depth + 1, number))
        return false;
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(v));
    if (width < 64)
        *number &= (INT64_C(1) << width) - 1;
    return true;
}

/* The guard of a function-local static (Itanium ABI), folded to "not initialised": the branch that then calls
 * __cxa_guard_acquire is ordered as the other one is. */
static bool is_guard(LLVMValueRef load)
{
    size_t n;
    return LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic &&
           dh_mangled_is_static_guard(LLVMGetValueName2(LLVMGetOperand(load, 0), &n));
}

static bool fold(struct dh_model_reader *r, LLVMValueRef v, int depth, int64_t *number)
{
    size_t n;
    if (depth > DEEPEST_FOLD)
        return false;
    if (LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64) {
        *number = LLVMGetIntTypeWidth(LLVMTypeOf(v)) == 1 ? (int64_t)LLVMConstIntGetZExtValue(v)
                                                          : LLVMConstIntGetSExtValue(v);
        return true;
    }
    if (!LLVMIsAInstruction(v))
        return false;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMLoad:
        *number = 0;
        return LLVMIsAGlobalVariable(LLVMGetOperand(v, 0)) &&
               (strcmp(LLVMGetValueName2(LLVMGetOperand(v, 0), &n), "__libc_single_threaded") == 0 || is_guard(v));
    case LLVMCall:
        return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind && fold_call(r, v, depth, number);
    case LLVMExtractValue:
        *number = 0;
        return !r->distant_members && dh_read_is_member_pointer(v, 1);
    case LLVMICmp:
        return fold_compare(r, v, depth, number);
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind && fold_logic(r, v, depth, number);
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMFreeze:
        return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMIntegerTypeKind && fold_cast(r, v, depth, number);
    default:
        return false;
    }
}

static bool is_feasible(struct dh_model_reader *r, LLVMValueRef end, unsigned successor)
{
    int64_t number;
    if (LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end) ||
        !fold(r, LLVMGetCondition(end), 0, &number))
        return true;
    return successor == (number ? 0 : 1);
}

bool dh_read_is_feasible_edge(struct dh_model_reader *r, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        if (LLVMGetSuccessor(end, i) == to && is_feasible(r, end, i))
            return true;
    return false;
}

static struct dh_read_block *add_block(struct dh_model_reader *r, LLVMBasicBlockRef b)
{
    struct dh_read_block *block = dh_arena_take(&r->body, sizeof *block);
    *dh_ptr_map_at(&r->blocks, b) = block;
    return block;
}

void dh_read_reachable_blocks(struct dh_model_reader *r)
{
    DH_VEC(LLVMBasicBlockRef) work = {0};
    uint32_t order = 0;
    dh_ptr_map_clear(&r->blocks);
    add_block(r, LLVMGetEntryBasicBlock(r->function));
    dh_vec_push(&work, LLVMGetEntryBasicBlock(r->function));
    while (work.n) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(work.at[--work.n]);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
            if (!is_feasible(r, end, i) || dh_ptr_map_find(&r->blocks, to))
                continue;
            add_block(r, to);
            dh_vec_push(&work, to);
        }
    }
    dh_vec_release(&work);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b; b = LLVMGetNextBasicBlock(b)) {
        struct dh_read_block *block = dh_ptr_map_find(&r->blocks, b);
        if (block)
            block->order = order++;
    }
}
