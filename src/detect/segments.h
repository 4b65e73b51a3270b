/* Moments: a thread between two of its synchronisations, with the locks it holds and its place in the order of the run.
 * Layer: detect. The order is happens-before without lock edges, as another run may get the locks in another order,
 * plus what dh_segments_learn adds; it is kept in three strengths, since what is handed over from thread to thread by
 * way of a lock orders the thing handed over, but not the variables that every thread knows by name. But for
 * DH_HB_PLAIN, who wakes from a wait knows what was done under the lock by the time of the signal. A moment lives while
 * somebody has taken it; number 0 is none. Not thread-safe. */
#ifndef DH_DETECT_SEGMENTS_H
#define DH_DETECT_SEGMENTS_H

#include "detect/locksets.h"
#include "detect/run_state.h"
#include "event/event.h"

enum dh_hb_strength {
    DH_HB_PLAIN,       /* synchronisation other than locks */
    DH_HB_SIGNALLED,   /* and waits that were not needed, flags */
    DH_HB_TRANSFERRED, /* and the things passed through what a lock protects */
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
/* Valid until the next moment is made. */
static inline const struct dh_lock_hold *dh_segment_held(const struct dh_segment *m)
{
    return m->n_held > 1 ? m->held.more : &m->held.one;
}

struct dh_segments;
struct dh_segments *dh_segments_new(struct dh_run_state *w);
void dh_segments_free(struct dh_segments *m);
/* Every event but accesses, after the detector has looked at it. */
void dh_segments_event(struct dh_segments *m, const struct dh_event *e);
/* The thread's moment; valid until its next event, or while taken. */
uint32_t dh_segments_current(struct dh_segments *m, uint32_t thread);
/* The one that dh_segments_current told last, with what was learnt since: for what came before the event that is looked
 * at.
 */
uint32_t dh_segments_latest(struct dh_segments *m, uint32_t thread);
const struct dh_segment *dh_segments_get(const struct dh_segments *m, uint32_t segment);
uint32_t dh_segments_ref(struct dh_segments *m, uint32_t segment);
void dh_segments_unref(struct dh_segments *m, uint32_t segment);
/* What was done by the end of that moment, which is the thread's latest, and under its locks before, can be learnt from
 * now on. The moment is over then. */
void dh_segments_publish(struct dh_segments *m, uint32_t segment);
/* The thread now comes after what was published with that moment, in the orders of that strength and above. */
void dh_segments_learn(struct dh_segments *m, uint32_t thread, uint32_t segment, enum dh_hb_strength strength);

struct dh_locksets *dh_segments_locksets(struct dh_segments *m);
/* Is that moment before what the thread does now? */
bool dh_segments_happens_before(struct dh_segments *m, uint32_t segment, uint32_t thread, enum dh_hb_strength strength);
/* Do the locks held then keep what is done at the two moments apart? */
bool dh_segments_share_lock(struct dh_segments *m, uint32_t a, uint32_t b);
/* Is whatever is kept apart from a kept apart from b, too? */
bool dh_segments_locks_within(struct dh_segments *m, uint32_t a, uint32_t b);
/* The same of their sets of locks. */
bool dh_segments_lock_sets_within(struct dh_segments *m, uint32_t any, uint32_t exclusive, uint32_t than_any,
                                  uint32_t than_exclusive);

#endif
