/* Accesses that walk through memory in a loop that does nothing but compute: one hook before the loop speaks for all of
 * its rounds. Layer: instrument. The loop is one block that counts; it calls, orders and waits for nothing, so that all
 * of it belongs to one epoch, and when an access is told makes no difference. One per module; owns its cache. */
#ifndef DH_INSTRUMENT_STRIDED_LOOPS_H
#define DH_INSTRUMENT_STRIDED_LOOPS_H

#include "instrument/ptrmap.h"
#include "instrument/weave.h"

struct dh_loop {
    LLVMBasicBlockRef block, before;      /* the loop, and where it is entered from */
    LLVMValueRef phi, next, start, bound; /* what it counts; NULL phi: nothing to be said of this block */
    int64_t step;
    LLVMIntPredicate stays; /* between `tested` and `bound` */
    bool tests_next;        /* what was counted is tested, not what it was before */
    LLVMTypeRef narrow;     /* the lower part of it is, of this type; NULL: all of it */
    LLVMValueRef rounds;    /* as u64, placed when first asked for */
    LLVMValueRef reads;     /* the first hook of a read: writes are told before, since they speak for reads, too */
};

struct dh_runs {
    struct dh_weave *w;
    struct dh_ptrmap known; /* block -> 1 + its loop */
    bool with_chosen;       /* accesses of chosen places, which are calls, are as good as others; and so are counters of
                               which the lower part is tested */
    DH_VEC(struct dh_loop) loops;
};

struct dh_run {
    LLVMValueRef first, rounds; /* address of the first access; how many there are, 0 when the loop is not entered */
    int64_t stride;
    struct dh_loop *loop;
};

void dh_runs_release(struct dh_runs *r);
/* Looks at the function's loops, before any hook is in them. */
void dh_runs_of_function(struct dh_runs *r, struct dh_weave *w, LLVMValueRef f);
/* Places what the hook needs and leaves the builder where it belongs; false: the access is none of a run. */
bool dh_runs_find(struct dh_runs *r, const struct dh_memop *a, struct dh_run *run);
/* Without placing anything: the loop that is this block, and how many bytes the address moves from round to round.
 * NULL: it is none, or the address moves otherwise. */
struct dh_loop *dh_runs_walk(struct dh_runs *r, LLVMBasicBlockRef block, LLVMValueRef addr, int64_t *by);
/* At the builder's position before the loop, of an address that dh_runs_walk knows: where it is in the first round; and
 * how many rounds there are, if there is one. */
LLVMValueRef dh_runs_first(struct dh_runs *r, const struct dh_loop *l, LLVMValueRef addr);
LLVMValueRef dh_runs_rounds(struct dh_runs *r, const struct dh_loop *l);
void dh_runs_placed(const struct dh_run *run, const struct dh_memop *a, LLVMValueRef hook);

#endif
