/* Moments: a thread between two of its synchronisations, with the locks it holds and its place in the order of the run.
 * Layer: detect. The order is happens-before without lock edges, as another run may get the locks in another order,
 * plus what dh_moments_learn adds; it is kept in three strengths, since what is handed over from thread to thread by
 * way of a lock orders the thing handed over, but not the variables that every thread knows by name. But for DH_PLAIN,
 * who wakes from a wait knows what was done under the lock by the time of the signal. A moment lives while somebody has
 * taken it; number 0 is none. Not thread-safe. */
#ifndef DH_DETECT_HB_MOMENTS_H
#define DH_DETECT_HB_MOMENTS_H

#include "detect/locksets.h"
#include "detect/world.h"
#include "event/event.h"

enum dh_strength {
    DH_PLAIN,  /* synchronisation other than locks */
    DH_SURE,   /* and waits that were not needed, flags */
    DH_HANDED, /* and the things passed through what a lock protects */
    DH_STRENGTHS
};

struct dh_moment {
    uint32_t thread;
    uint32_t time[DH_STRENGTHS];
    uint32_t any, exclusive; /* locks held in any way; those not shared */
    uint32_t n_held;
    bool published;
    union { /* most hold one */
        struct dh_held one, *more;
    } held;
};
/* Valid until the next moment is made. */
static inline const struct dh_held *dh_moment_held(const struct dh_moment *m)
{
    return m->n_held > 1 ? m->held.more : &m->held.one;
}

struct dh_moments;
struct dh_moments *dh_moments_new(struct dh_world *w);
void dh_moments_free(struct dh_moments *m);
/* Every event but accesses, after the detector has looked at it. */
void dh_moments_event(struct dh_moments *m, const struct dh_event *e);
/* The thread's moment; valid until its next event, or while taken. */
uint32_t dh_moments_now(struct dh_moments *m, uint32_t thread);
/* The one that dh_moments_now told last, with what was learnt since: for what came before the event that is looked at.
 */
uint32_t dh_moments_latest(struct dh_moments *m, uint32_t thread);
const struct dh_moment *dh_moments_get(const struct dh_moments *m, uint32_t moment);
uint32_t dh_moments_take(struct dh_moments *m, uint32_t moment);
void dh_moments_put(struct dh_moments *m, uint32_t moment);
/* What was done by the end of that moment, which is the thread's latest, and under its locks before, can be learnt from
 * now on. The moment is over then. */
void dh_moments_publish(struct dh_moments *m, uint32_t moment);
/* The thread now comes after what was published with that moment, in the orders of that strength and above. */
void dh_moments_learn(struct dh_moments *m, uint32_t thread, uint32_t moment, enum dh_strength strength);

struct dh_locksets *dh_moments_locksets(struct dh_moments *m);
/* Is that moment before what the thread does now? */
bool dh_moments_before(struct dh_moments *m, uint32_t moment, uint32_t thread, enum dh_strength strength);
/* Do the locks held then keep what is done at the two moments apart? */
bool dh_moments_excluded(struct dh_moments *m, uint32_t a, uint32_t b);
/* Is whatever is kept apart from a kept apart from b, too? */
bool dh_moments_weaker(struct dh_moments *m, uint32_t a, uint32_t b);
/* The same of their sets of locks. */
bool dh_moments_weaker_locks(struct dh_moments *m, uint32_t any, uint32_t exclusive, uint32_t than_any,
                             uint32_t than_exclusive);

#endif
