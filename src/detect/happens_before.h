/* Happens-before of the event stream, with a choice of which synchronisation counts. Layer: detect. The rules are those
 * of event/happens_before.h. Clocks of joined threads are freed. Not thread-safe. */
#ifndef DH_DETECT_HAPPENS_BEFORE_H
#define DH_DETECT_HAPPENS_BEFORE_H

#include "event/event.h"

#include <stdbool.h>
#include <stdint.h>

enum dh_edges {
    DH_EDGES_THREADS = 1 << 0,    /* create, join */
    DH_EDGES_LOCKS = 1 << 1,      /* unlock to lock, also by condition waits */
    DH_EDGES_CONDITIONS = 1 << 2, /* signal or broadcast to the waits that end after it */
    DH_EDGES_ATOMICS = 1 << 3,
    DH_EDGES_OTHERS = 1 << 4, /* barriers, semaphores, once, descriptors, annotations */
    /* What the observed run orders for sure; a condition orders nothing by itself. */
    DH_EDGES_ALL = DH_EDGES_THREADS | DH_EDGES_LOCKS | DH_EDGES_ATOMICS | DH_EDGES_OTHERS,
    /* What would also order the run if the locks had been got in another order (lockset's hybrid). */
    DH_EDGES_WITHOUT_LOCKS = DH_EDGES_THREADS | DH_EDGES_CONDITIONS | DH_EDGES_ATOMICS | DH_EDGES_OTHERS
};

struct dh_happens;
struct dh_happens *dh_happens_new(unsigned edges);
void dh_happens_free(struct dh_happens *h);
/* Every event but accesses and scopes, in order; others are ignored. Call it after the detector has handled the event:
 * at a release the epoch before it counts. */
void dh_happens_event(struct dh_happens *h, const struct dh_event *e);
/* An acquire of the object at `to` acquires what was released to that at `from` by now, too. */
void dh_happens_pass(struct dh_happens *h, uint64_t from, uint64_t to);
/* The thread's own entry: rises at every release. Thread and time name an epoch. */
uint32_t dh_happens_time(struct dh_happens *h, uint32_t thread);
/* Does that epoch happen before what `thread` does now? A thread's own do. */
bool dh_happens_before(struct dh_happens *h, uint32_t then_thread, uint32_t then, uint32_t thread);
/* The thread's clock by slot, borrowed until the next event: an epoch of a thread in `slot` happens before if the entry
 * is not less than its time. NULL: the thread's number is too high. */
const uint32_t *dh_happens_clock(struct dh_happens *h, uint32_t thread, uint32_t *slot, uint32_t *n);

#endif
