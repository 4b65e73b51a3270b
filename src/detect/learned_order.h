/* Order that locks carry on purpose. Layer: detect. What two threads do under a lock may come in either order, so lock
 * edges do not count for suspicions; but who takes an item from a queue comes after who put it there, whether it had to
 * wait for it or not, and who reads under a lock that the work is done comes after the work. So a thread that reads,
 * under a lock, what another thread wrote while it held that lock exclusively, learns what was done before
 *   - when a wait depends on the variable (read before a wait, or written where one is signalled; known by its name);
 *   - when it is a flag: set to a value that is not made of the old one (no counter), and either asked for before it
 * was set, by the writer, or asked for again and again, by the reader;
 *   - when it is a pointer, or an element or a member that was set to such a value: that orders what is handed over,
 * not the variables that every thread reaches by name (DH_HB_TRANSFERRED). A write at a place whose function also reads
 * the variable counts as a read, too: instrumentation leaves such reads out. Accesses under locks are held back until
 * the thread's next event, as what comes first there is not told. */
#ifndef DH_DETECT_LEARNED_ORDER_H
#define DH_DETECT_LEARNED_ORDER_H

#include "detect/segments.h"

struct dh_learned_order;
typedef void dh_ordered_access_fn(void *arg, const struct dh_event *e, uint32_t segment);
/* `deliver` gets every access, with its moment, when the order of its thread is known. */
struct dh_learned_order *dh_learned_order_new(struct dh_run_state *w, struct dh_segments *m,
                                              dh_ordered_access_fn *deliver, void *arg);
/* `soon` hears of each access that was held back before the first of them is delivered. */
void dh_learned_order_set_prefetch(struct dh_learned_order *h, void (*soon)(void *arg, const struct dh_event *e));
void dh_learned_order_free(struct dh_learned_order *h);
void dh_learned_order_access(struct dh_learned_order *h, const struct dh_event *e);
/* Every other event, before dh_segments_event. */
void dh_learned_order_event(struct dh_learned_order *h, const struct dh_event *e);
/* What is held back still, at the end of the stream. */
void dh_learned_order_flush(struct dh_learned_order *h);

/* Does the place access a variable that every thread reaches by its name? */
bool dh_learned_order_is_global(struct dh_learned_order *h, uint32_t site);
/* Elements of which array does the place access? 0: none; 1: of one that is no member of a struct; else which. */
uint64_t dh_learned_order_array_of(struct dh_learned_order *h, uint32_t site);

/* Which order counts between two accesses? Who takes a lock for a variable that all know, and who takes another one for
 * it, do not trust in what comes first. */
static inline enum dh_hb_strength dh_hb_strength_between(bool both_by_name, bool both_locked)
{
    return !both_by_name ? DH_HB_TRANSFERRED : both_locked ? DH_HB_PLAIN : DH_HB_SIGNALLED;
}

#endif
