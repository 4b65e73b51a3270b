/* Shared by the static lock analyses: call graph, lock effects of calls, paths from a lock to its unlocks. Layer: ir,
 * internal. */
#ifndef DH_IR_LOCK_ANALYSIS_H
#define DH_IR_LOCK_ANALYSIS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/scope_table.h"
#include "event/site.h"
#include "ir/debug_info.h"

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Effect of a call on the locks held. */
enum dh_lock_action { DH_LOCK_NO_EFFECT, DH_LOCK_ACQUIRES, DH_LOCK_RELEASES };

struct dh_lock_name {
    uint32_t name;
    bool write;
};

struct dh_lock_function {
    LLVMValueRef value;
    DH_VEC(struct dh_lock_name) names;         /* accessed in its own body, not in callees */
    DH_VEC(LLVMValueRef) locking;              /* lock and unlock calls, calls of defined functions */
    DH_VEC(struct dh_lock_function *) callees; /* defined ones */
    bool acquires, releases;
    unsigned seen;             /* mark of the last walk that visited it */
    struct dh_lock_flow *flow; /* of section_dataflow.c */
};

struct dh_lock_analysis {
    struct dh_site_builder *b;
    struct dh_site_table sites;
    struct dh_di *di;
    struct dh_ptr_map by_value; /* LLVMValueRef -> struct dh_lock_function */
    DH_VEC(struct dh_lock_function *) all;
    DH_VEC(struct dh_scope_row) rows;
    DH_VEC(uint32_t) names;
    DH_VEC(struct dh_flow_row) flows;
    unsigned walks;
};

/* Forward walk from a lock call to its unlocks. Zero-initialise but for `a` and `begin`. */
struct dh_section_walk {
    const struct dh_lock_analysis *a;
    LLVMValueRef begin;
    struct dh_ptr_map seen; /* blocks */
    DH_VEC(LLVMBasicBlockRef) ahead;
    bool ended, returned;
    struct dh_lock_function inside; /* accesses and callees on these paths */
    /* Called for every instruction of the section, when not NULL. */
    void (*visit)(void *arg, LLVMValueRef i);
    void *arg;
};

static inline bool dh_lock_is_call(LLVMValueRef v)
{
    return LLVMIsACallInst(v) || LLVMIsAInvokeInst(v);
}

static inline bool dh_lock_is_pointer(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

void dh_section_walk(struct dh_section_walk *w);
void dh_section_walk_release(struct dh_section_walk *w);
enum dh_lock_action dh_lock_effect(const struct dh_lock_analysis *a, LLVMValueRef call, bool *direct);
/* NULL when it is not defined here or not known. */
struct dh_lock_function *dh_lock_callee(const struct dh_lock_analysis *a, LLVMValueRef call);

/* Computed alike from the same values; loads of one pointer count as the same value. */
bool dh_lock_same_value(LLVMValueRef x, LLVMValueRef y);
/* Blocks that are reachable from `from` without passing `not_by`. */
void dh_lock_reachable_blocks(LLVMBasicBlockRef from, LLVMBasicBlockRef not_by, struct dh_ptr_map *seen);

/* Fills `flows`: dataflow from reads to later sections. */
void dh_lock_find_dataflow(struct dh_lock_analysis *a);
/* Adds to `flows`: accesses of one read-modify-write or check-then-act sequence. */
void dh_lock_find_rmw_sequences(struct dh_lock_analysis *a);
/* Adds to `flows`: which sections may wait for which conditions. */
void dh_lock_find_waits(struct dh_lock_analysis *a);
/* Sorts `flows` and merges duplicates. */
void dh_lock_sort_flows(struct dh_lock_analysis *a);
void dh_lock_flow_free(struct dh_lock_flow *f);

#endif
