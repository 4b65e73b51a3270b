/* Adversarial memory (004) in a freely running program: loads at chosen places return any value that the model hb
 * allows. Layer: runtime, over memory/model.h. Any thread, signal handlers, after fork. No effect without a job
 * (event/stale.h). Happens-before comes from synchronisation; too much order is sound, too little is not. */
#ifndef DH_RUNTIME_STALE_STALE_H
#define DH_RUNTIME_STALE_STALE_H

#include "event/stale.h"
#include "runtime/core/thread_state.h"
#include "runtime/sync/sync.h"

extern bool dh_stale_on;
extern struct dh_stale_control *dh_stale_control;

/* For the inline checks. Array elements are served if (address & mask) == want. Over: nothing is served, before there
 * is a second thread or after the budget is spent. With threads, the set only shrinks: a thread that has passed a check
 * may still be about to store. */
extern uint64_t __dh_stale_mask, __dh_stale_want;
extern uint32_t __dh_stale_over;

/* For frequent calls. */
#define DH_STALE(call)                                                                                                 \
    do {                                                                                                               \
        if (__builtin_expect(dh_stale_on, 0))                                                                          \
            call;                                                                                                      \
    } while (0)

/* ---- threads (threads.c) ---- */

struct dh_stale_thread_birth;
struct dh_stale_thread_birth *dh_stale_thread_create(uint32_t index);
void dh_stale_thread_abandon(struct dh_stale_thread_birth *b);
/* NULL: its creation was not seen; its loads return the newest value. */
void dh_stale_thread_begin(struct dh_stale_thread_birth *b);
void dh_stale_thread_end(const void *object);

/* ---- happens-before (happens_before.c) ---- */

enum dh_stale_edge { DH_STALE_ACQUIRE = 1, DH_STALE_RELEASE = 2 };
void dh_stale_hb_edge(const void *object, unsigned edges);
void dh_stale_forget_object(const void *object);
void dh_stale_fence(uint32_t order);

/* ---- sampled array elements (element_sampling.c) ---- */

/* All elements, when there is a second thread. */
void dh_stale_sample_all(void);
/* Half as many as before, in the end none. */
void dh_stale_sample_less(void);
/* There may be new racy elements (racy_elements.h). */
void dh_stale_resample(void);

/* ---- accesses (accesses.c, atomics.c, shards.c) ---- */

/* New or freed memory has no older values. */
void dh_stale_forget(const void *at, size_t size);
void dh_stale_forget_block(const void *at);
/* Forgets all values of all locations. */
void dh_stale_forget_all(void);
/* `value` gets the bytes, or has what is stored. */
void dh_stale_load(const void *addr, void *value, size_t size, uint32_t what, uint32_t place);
void dh_stale_store(void *addr, const void *value, size_t size, uint32_t what, uint32_t place);
/* Atomics at chosen places, of at most eight bytes. */
uint64_t dh_stale_atomic_load(const void *addr, uint32_t what, uint32_t place);
void dh_stale_atomic_store(void *addr, uint64_t value, uint32_t what, uint32_t place);
uint64_t dh_stale_atomic_rmw(void *addr, uint64_t operand, uint32_t what, uint32_t rmw, uint32_t place);
uint64_t dh_stale_atomic_cas(void *addr, uint64_t expected, uint64_t desired, uint32_t what, uint32_t failure,
                             uint32_t place);

#endif
