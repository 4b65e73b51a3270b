/* Happens-before over the event stream by vector clocks, with a choice of what counts as order. Layer: detect. Exact
 * for C11 atomics (release sequences, fences). Memory is freed for threads that were joined. */
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
/* Every event but accesses and scopes, in order; others are ignored. Call it before using the thread's time at what
 * acquires, and after using it at what releases: simplest, after the detector has looked at the event. */
void dh_happens_event(struct dh_happens *h, const struct dh_event *e);
/* What the object at `from` tells who acquires it, the one at `to` tells from now on, too. */
void dh_happens_pass(struct dh_happens *h, uint64_t from, uint64_t to);
/* The thread's own time now: grows whenever it releases. Together with the thread it names a moment. */
uint32_t dh_happens_time(struct dh_happens *h, uint32_t thread);
/* Is that moment before what `thread` does now? A thread's own moments are. */
bool dh_happens_before(struct dh_happens *h, uint32_t then_thread, uint32_t then, uint32_t thread);
/* All that the thread knows now: the latest time of each slot, borrowed until the next event. A moment of a thread in
 * `slot` is before that if the slot's time is not less than its own. NULL: thread numbers like this are refused. */
const uint32_t *dh_happens_clock(struct dh_happens *h, uint32_t thread, uint32_t *slot, uint32_t *n);

#endif
