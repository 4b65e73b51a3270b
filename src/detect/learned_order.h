/* Learned order: order that a queue, a flag or an ownership transfer makes although only a lock is seen. Layer: detect.
 * Critical sections may come in either order, so lock edges do not count for suspicions; but the thread that removes an
 * item from a queue comes after the one that added it, whether it had to wait or not, and the thread that reads a done
 * flag under a lock comes after the work. So a thread that reads, under a lock, what another thread wrote while it held
 * that lock exclusively, is ordered after that thread's critical section
 *   - when a condition wait depends on the variable (it is read before a wait, or written where the condition is
 *     signalled; known by its name);
 *   - when it is a flag: set to a value that is not computed from the old one (so no counter), and either tested by the
 *     writer before it was set, or tested repeatedly by the reader;
 *   - when it is a pointer, or an element or member set to such a value: an ownership transfer. That orders the
 *     transferred objects, not global variables (DH_HB_TRANSFERRED).
 * A write in a function that also reads the variable counts as a read, too: instrumentation leaves such reads out.
 * Accesses under locks are delayed until the thread's next event, as their order before it is not recorded. */
#ifndef DH_DETECT_LEARNED_ORDER_H
#define DH_DETECT_LEARNED_ORDER_H

#include "detect/segments.h"

struct dh_learned_order;
typedef void dh_ordered_access_fn(void *arg, const struct dh_event *e, uint32_t segment);
/* `deliver` is called with every access and its segment, once the order of its thread is known. */
struct dh_learned_order *dh_learned_order_new(struct dh_run_state *w, struct dh_segments *m,
                                              dh_ordered_access_fn *deliver, void *arg);
/* `prefetch` is called with each delayed access before the first of them is delivered. */
void dh_learned_order_set_prefetch(struct dh_learned_order *h, void (*prefetch)(void *arg, const struct dh_event *e));
void dh_learned_order_free(struct dh_learned_order *h);
void dh_learned_order_access(struct dh_learned_order *h, const struct dh_event *e);
/* Every other event, before dh_segments_event. */
void dh_learned_order_event(struct dh_learned_order *h, const struct dh_event *e);
/* Delivers what is still delayed, at the end of the stream. */
void dh_learned_order_flush(struct dh_learned_order *h);

/* Does the place access a global variable? */
bool dh_learned_order_is_global(struct dh_learned_order *h, uint32_t site);
/* Which array's elements does the place access? 0: none; 1: one that is no member of a struct; else a hash of it. */
uint64_t dh_learned_order_array_of(struct dh_learned_order *h, uint32_t site);

/* Which order counts between two accesses? If both hold some lock at a global variable, the program relies on locks
 * there, not on learned order. */
static inline enum dh_hb_strength dh_hb_strength_between(bool both_global, bool both_locked)
{
    return !both_global ? DH_HB_TRANSFERRED : both_locked ? DH_HB_PLAIN : DH_HB_SIGNALLED;
}

#endif
