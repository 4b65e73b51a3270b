/* Segments: a thread between two of its synchronisations, with its lock sets and its time (as ThreadSanitizer v1 has
 * them). Layer: detect. They are ordered by happens-before without lock edges, as another run may acquire the locks in
 * another order, plus what dh_segments_learn adds (learned_order.h), in three strengths: an ownership transfer orders
 * the transferred object, not global variables. Except in DH_HB_PLAIN, a waiter inherits the critical sections of the
 * lock up to the signal. References are counted; number 0 is none. Not thread-safe. */
#ifndef DH_DETECT_SEGMENTS_H
#define DH_DETECT_SEGMENTS_H

#include "detect/locksets.h"
#include "detect/run_state.h"
#include "event/event.h"

enum dh_hb_strength {
    DH_HB_PLAIN,       /* synchronisation other than locks */
    DH_HB_SIGNALLED,   /* and flags, and condition variables where no wait was needed */
    DH_HB_TRANSFERRED, /* and ownership transfer through data that a lock protects */
    DH_HB_STRENGTHS
};

struct dh_segment {
    uint32_t thread;
    uint32_t time[DH_HB_STRENGTHS];
    uint32_t any, exclusive; /* locks held in any way; those not shared */
    uint32_t n_held;
    bool published;
    union { /* most hold one */
        struct dh_lock_hold one, *more;
    } held;
};
/* Valid until the next segment begins. */
static inline const struct dh_lock_hold *dh_segment_held(const struct dh_segment *m)
{
    return m->n_held > 1 ? m->held.more : &m->held.one;
}

struct dh_segments;
struct dh_segments *dh_segments_new(struct dh_run_state *w);
void dh_segments_free(struct dh_segments *m);
/* Every event but accesses, after the detector has handled it. */
void dh_segments_event(struct dh_segments *m, const struct dh_event *e);
/* The thread's segment; valid until its next event, or while it is referenced. */
uint32_t dh_segments_current(struct dh_segments *m, uint32_t thread);
/* What dh_segments_current answered last, with what was learnt since: for accesses before the event being handled. */
uint32_t dh_segments_latest(struct dh_segments *m, uint32_t thread);
const struct dh_segment *dh_segments_get(const struct dh_segments *m, uint32_t segment);
uint32_t dh_segments_ref(struct dh_segments *m, uint32_t segment);
void dh_segments_unref(struct dh_segments *m, uint32_t segment);
/* What was done up to the end of that segment, which is its thread's latest, and in earlier critical sections of its
 * locks, can be learnt from now on. The segment ends. */
void dh_segments_publish(struct dh_segments *m, uint32_t segment);
/* Orders the thread after what was published with that segment, in this strength and weaker ones. */
void dh_segments_learn(struct dh_segments *m, uint32_t thread, uint32_t segment, enum dh_hb_strength strength);

struct dh_locksets *dh_segments_locksets(struct dh_segments *m);
/* Is the segment before what the thread does now? */
bool dh_segments_happens_before(struct dh_segments *m, uint32_t segment, uint32_t thread, enum dh_hb_strength strength);
/* Do their locks exclude each other: is one common, and held exclusively by one? */
bool dh_segments_share_lock(struct dh_segments *m, uint32_t a, uint32_t b);
/* Are the locks of `a` among those of `b`: what is excluded by `a` is excluded by `b`. */
bool dh_segments_locks_within(struct dh_segments *m, uint32_t a, uint32_t b);
/* The same of lock sets. */
bool dh_segments_lock_sets_within(struct dh_segments *m, uint32_t any, uint32_t exclusive, uint32_t than_any,
                                  uint32_t than_exclusive);

#endif
