/* Strided accesses in counted loops: one range hook before the loop replaces a hook per iteration. Layer: instrument.
 * The loop is a single block without calls and synchronisation, so that all its iterations belong to one epoch and the
 * check may be done early. One per module; owns its cache. */
#ifndef DH_INSTRUMENT_STRIDED_LOOPS_H
#define DH_INSTRUMENT_STRIDED_LOOPS_H

#include "base/map.h"
#include "instrument/pass.h"

struct dh_counted_loop {
    LLVMBasicBlockRef block, before;      /* the loop, and where it is entered from */
    LLVMValueRef phi, next, start, bound; /* what it counts; NULL phi: nothing to be said of this block */
    int64_t step;
    LLVMIntPredicate stays; /* between `tested` and `bound` */
    bool tests_next;        /* what was counted is tested, not what it was before */
    LLVMTypeRef narrow;     /* the lower part of it is, of this type; NULL: all of it */
    LLVMValueRef rounds;    /* as u64, placed when first asked for */
    LLVMValueRef reads;     /* the first hook of a read: writes are told before, since they speak for reads, too */
};

struct dh_strided_loops {
    struct dh_pass *w;
    struct dh_u64_map known; /* block -> 1 + its loop */
    bool with_chosen; /* accesses of chosen places, which are calls, are as good as others; and so are counters of
                         which the lower part is tested */
    DH_VEC(struct dh_counted_loop) loops;
};

struct dh_strided_access {
    LLVMValueRef first, rounds; /* address of the first access; how many there are, 0 when the loop is not entered */
    int64_t stride;
    struct dh_counted_loop *loop;
};

void dh_strided_loops_release(struct dh_strided_loops *r);
/* Looks at the function's loops, before any hook is in them. */
void dh_strided_loops_enter_function(struct dh_strided_loops *r, struct dh_pass *w, LLVMValueRef f);
/* Places what the hook needs and leaves the builder where it belongs; false: the access is none of a run. */
bool dh_strided_loops_find(struct dh_strided_loops *r, const struct dh_memop *a, struct dh_strided_access *run);
/* Without placing anything: the loop that is this block, and how many bytes the address moves from round to round.
 * NULL: it is none, or the address moves otherwise. */
struct dh_counted_loop *dh_strided_loops_stride(struct dh_strided_loops *r, LLVMBasicBlockRef block, LLVMValueRef addr,
                                                int64_t *by);
/* At the builder's position before the loop, of an address that dh_strided_loops_stride knows: where it is in the first
 * round; and how many rounds there are, if there is one. */
LLVMValueRef dh_strided_loops_first_address(struct dh_strided_loops *r, const struct dh_counted_loop *l,
                                            LLVMValueRef addr);
LLVMValueRef dh_strided_loops_trip_count(struct dh_strided_loops *r, const struct dh_counted_loop *l);
void dh_strided_loops_note_hook(const struct dh_strided_access *run, const struct dh_memop *a, LLVMValueRef hook);

#endif
