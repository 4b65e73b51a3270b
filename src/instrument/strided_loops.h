/* Strided accesses in counted loops: one range hook before the loop replaces a hook per iteration. Layer: instrument.
 * The loop is a single block without calls and synchronisation, so that all its iterations belong to one epoch and the
 * check may be done early. One per module; owns its cache. */
#ifndef DH_INSTRUMENT_STRIDED_LOOPS_H
#define DH_INSTRUMENT_STRIDED_LOOPS_H

#include "base/map.h"
#include "instrument/pass.h"

struct dh_counted_loop {
    LLVMBasicBlockRef block, before; /* the loop, and its preheader */
    LLVMValueRef phi, next;          /* induction variable; NULL phi: no counted loop */
    LLVMValueRef test;               /* the comparison at its end, */
    unsigned bound_at;               /* and which of its operands is the bound */
    int64_t step;
    LLVMIntPredicate stays; /* exit condition between what is tested and the bound */
    bool tests_next;        /* the incremented value is tested, not the phi */
    LLVMTypeRef narrow;     /* type of the truncated value that is tested; NULL: all of it */
    LLVMValueRef rounds;    /* trip count as u64, emitted when first needed */
    LLVMValueRef reads;     /* the first hook of a read: hooks of writes precede it, since they cover reads, too */
};

struct dh_strided_loops {
    struct dh_pass *pass;
    struct dh_u64_map known; /* block -> 1 + its loop */
    bool with_chosen;        /* calls that are chosen accesses count as accesses; and truncated counters are accepted */
    DH_VEC(struct dh_counted_loop) loops;
};

struct dh_strided_access {
    LLVMValueRef first, rounds; /* address of the first access; trip count, 0 when the loop is not entered */
    int64_t stride;
    struct dh_counted_loop *loop;
};

void dh_strided_loops_release(struct dh_strided_loops *r);
/* Finds the function's counted loops, before hooks are placed in them. */
void dh_strided_loops_enter_function(struct dh_strided_loops *r, struct dh_pass *pass, LLVMValueRef f);
/* Emits the operands of the range hook and leaves the builder at its position; false: the access is not strided. */
bool dh_strided_loops_find(struct dh_strided_loops *r, const struct dh_memop *a, struct dh_strided_access *run);
/* Without emitting anything: the counted loop of this block, and the address's stride in bytes. NULL: no such loop, or
 * no constant stride. */
struct dh_counted_loop *dh_strided_loops_stride(struct dh_strided_loops *r, LLVMBasicBlockRef block, LLVMValueRef addr,
                                                int64_t *by);
/* At the builder's position before the loop: the address in the first iteration, of one that dh_strided_loops_stride
 * accepted; and the trip count, if the loop is entered. */
LLVMValueRef dh_strided_loops_first_address(struct dh_strided_loops *r, const struct dh_counted_loop *l,
                                            LLVMValueRef addr);
LLVMValueRef dh_strided_loops_trip_count(struct dh_strided_loops *r, const struct dh_counted_loop *l);
void dh_strided_loops_note_hook(const struct dh_strided_access *run, const struct dh_memop *a, LLVMValueRef hook);

#endif
