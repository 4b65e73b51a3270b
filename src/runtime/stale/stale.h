/* Adversarial memory in a program that runs free (004): loads of chosen places answer any value that the model hb
 * allows. Layer: runtime, over memory/model.h. Any thread, signal handlers, after fork. Does nothing without a job
 * (event/stale.h). Happens-before is kept by what synchronises; more order than there is would be legal, less not. */
#ifndef DH_RUNTIME_STALE_STALE_H
#define DH_RUNTIME_STALE_STALE_H

#include "event/stale.h"
#include "runtime/core/sync.h"
#include "runtime/core/thread_state.h"

extern bool dh_stale_on;
extern struct dh_stale_control *dh_stale_control;

/* For the inline checks: bits of an address that count, and what they must be, where elements of arrays are served; and
 * whether nothing is, before there is a second thread, or any more. Once there are threads fewer and fewer are: who has
 * passed a check may still be about to store. */
extern uint64_t __dh_stale_mask, __dh_stale_want;
extern uint32_t __dh_stale_over;

/* Where it is asked for often. */
#define DH_STALE(call)                                                                                                 \
    do {                                                                                                               \
        if (__builtin_expect(dh_stale_on, 0))                                                                          \
            call;                                                                                                      \
    } while (0)

/* ---- threads (stale_threads.c) ---- */

struct dh_stale_thread_birth;
struct dh_stale_thread_birth *dh_stale_thread_create(uint32_t index);
void dh_stale_thread_abandon(struct dh_stale_thread_birth *b);
/* NULL: nobody announced it; its loads get the newest. */
void dh_stale_thread_begin(struct dh_stale_thread_birth *b);
void dh_stale_thread_end(const void *object);

/* ---- order (stale_order.c) ---- */

enum dh_stale_edge { DH_STALE_ACQUIRE = 1, DH_STALE_RELEASE = 2 };
void dh_stale_hb_edge(const void *object, unsigned edges);
void dh_stale_forget_object(const void *object);
void dh_stale_fence(uint32_t order);

/* ---- which elements (stale_watch.c) ---- */

/* All, when there is a second thread. */
void dh_stale_sample_all(void);
/* Half as many as before, none in the end. */
void dh_stale_sample_less(void);
/* There may be more of those that races were seen on (runtime/stale/racy_elements.h). */
void dh_stale_resample(void);

/* ---- accesses (stale_serve.c) ---- */

/* Memory that is new or free has no past. */
void dh_stale_forget(const void *at, size_t size);
void dh_stale_forget_block(const void *at);
/* Everything begins anew. */
void dh_stale_forget_all(void);
/* Within a call: `value` has the bytes on return, or is what is stored. */
void dh_stale_load(const void *addr, void *value, size_t size, uint32_t what, uint32_t place);
void dh_stale_store(void *addr, const void *value, size_t size, uint32_t what, uint32_t place);
/* Atomics at chosen places, of at most eight bytes. */
uint64_t dh_stale_atomic_load(const void *addr, uint32_t what, uint32_t place);
void dh_stale_atomic_store(void *addr, uint64_t value, uint32_t what, uint32_t place);
uint64_t dh_stale_atomic_rmw(void *addr, uint64_t operand, uint32_t what, uint32_t rmw, uint32_t place);
uint64_t dh_stale_atomic_cas(void *addr, uint64_t expected, uint64_t desired, uint32_t what, uint32_t failure,
                             uint32_t place);

#endif
