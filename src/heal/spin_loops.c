#include "heal/spin_loops.h"

#include "base/vec.h"

#include <stdbool.h>

enum { DEPTH = 8 };

/* The natural loop of a back edge: blocks on a path from the head back to it. */
struct loop {
    LLVMBasicBlockRef head;
    struct dh_u64_map from, in; /* reachable from the head; of these, those that lead back */
    struct dh_u64_map *reads;
};

typedef DH_VEC(LLVMBasicBlockRef) block_vec;

static void reach(LLVMBasicBlockRef start, struct dh_u64_map *seen)
{
    block_vec way = {0};
    dh_vec_push(&way, start);
    while (way.n) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(way.at[--way.n]);
        for (unsigned i = 0, n = end ? LLVMGetNumSuccessors(end) : 0; i < n; i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
            if (!dh_u64_map_find(seen, (uintptr_t)next)) {
                *dh_u64_map_at(seen, (uintptr_t)next) = 1;
                dh_vec_push(&way, next);
            }
        }
    }
    dh_vec_release(&way);
}

static bool is_in(const struct loop *l, LLVMBasicBlockRef b)
{
    return dh_u64_map_find(&l->in, (uintptr_t)b);
}

/* False: it is no loop. */
static bool find_loop(struct loop *l, LLVMValueRef f)
{
    dh_u64_map_clear(&l->from);
    dh_u64_map_clear(&l->in);
    reach(l->head, &l->from);
    if (!dh_u64_map_find(&l->from, (uintptr_t)l->head))
        return false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
        if (!dh_u64_map_find(&l->from, (uintptr_t)b))
            continue;
        struct dh_u64_map back = {0};
        reach(b, &back);
        if (dh_u64_map_find(&back, (uintptr_t)l->head))
            *dh_u64_map_at(&l->in, (uintptr_t)b) = 1;
        dh_u64_map_release(&back);
    }
    return true;
}

/* Loop-invariant. */
static bool stays(const struct loop *l, LLVMValueRef v, int depth)
{
    if (!LLVMIsAInstruction(v) || !is_in(l, LLVMGetInstructionParent(v)))
        return true;
    LLVMOpcode op = LLVMGetInstructionOpcode(v);
    bool follows = op == LLVMGetElementPtr || op == LLVMBitCast || op == LLVMLoad || op == LLVMSExt || op == LLVMZExt ||
                   op == LLVMTrunc || op == LLVMAdd || op == LLVMMul || op == LLVMShl;
    if (!follows || depth == DEPTH)
        return false;
    for (int i = 0, n = LLVMGetNumOperands(v); i < n; i++)
        if (!stays(l, LLVMGetOperand(v, (unsigned)i), depth + 1))
            return false;
    return true;
}

/* Reads that the condition depends on. */
static void find_reads(struct loop *l, LLVMValueRef v, int depth)
{
    if (!LLVMIsAInstruction(v) || !is_in(l, LLVMGetInstructionParent(v)) || depth == DEPTH)
        return;
    if (LLVMGetInstructionOpcode(v) == LLVMPHI || LLVMGetInstructionOpcode(v) == LLVMCall)
        return;
    if (LLVMGetInstructionOpcode(v) == LLVMLoad) {
        if (stays(l, LLVMGetOperand(v, 0), 0) && !dh_u64_map_find(l->reads, (uintptr_t)v))
            *dh_u64_map_at(l->reads, (uintptr_t)v) = 1;
        return;
    }
    for (int i = 0, n = LLVMGetNumOperands(v); i < n; i++)
        find_reads(l, LLVMGetOperand(v, (unsigned)i), depth + 1);
}

/* A loop that stores does work, and may end itself. */
static bool stores(const struct loop *l, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = is_in(l, b) ? LLVMGetFirstInstruction(b) : NULL; i; i = LLVMGetNextInstruction(i))
            if (LLVMGetInstructionOpcode(i) == LLVMStore || LLVMGetInstructionOpcode(i) == LLVMAtomicRMW)
                return true;
    return false;
}

void dh_find_spin_loops(LLVMValueRef function, struct dh_u64_map *reads)
{
    struct loop l = {.reads = reads};
    for (l.head = LLVMGetFirstBasicBlock(function); l.head; l.head = LLVMGetNextBasicBlock(l.head)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(l.head);
        if (!end || LLVMGetInstructionOpcode(end) != LLVMBr || !LLVMIsConditional(end) || !find_loop(&l, function))
            continue;
        bool leaves = !is_in(&l, LLVMGetSuccessor(end, 0)) || !is_in(&l, LLVMGetSuccessor(end, 1));
        if (leaves && !stores(&l, function))
            find_reads(&l, LLVMGetCondition(end), 0);
    }
    dh_u64_map_release(&l.from);
    dh_u64_map_release(&l.in);
}
