/* Instants of a run that can be compared later: a thread's time and what it knew of the others then. Layer: detect.
 * dh_happens answers for now only; detectors that judge at the end keep instants. Counted references. */
#ifndef DH_DETECT_HB_SNAPSHOT_H
#define DH_DETECT_HB_SNAPSHOT_H

#include "base/vec.h"
#include "detect/happens_before.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_instant {
    uint32_t thread, time;
    uint32_t refs, n;
    uint32_t known[]; /* by thread: one more than its last time that is before this instant; 0: none is */
};

struct dh_instants {
    struct dh_happens *happens;
    DH_VEC(struct dh_instant *) now; /* by thread, NULL when it has changed */
};

void dh_instants_init(struct dh_instants *m, unsigned edges);
void dh_instants_release(struct dh_instants *m);
/* Every event that is no access, after the detector has looked at it. */
void dh_instants_event(struct dh_instants *m, const struct dh_event *e);
/* What the thread's instant is now, among `threads` threads; the caller drops it. */
struct dh_instant *dh_instants_now(struct dh_instants *m, uint32_t thread, uint32_t threads);
uint32_t dh_instants_time(struct dh_instants *m, uint32_t thread);
void dh_instant_drop(struct dh_instant *m);

/* Is (thread, time) before the instant? */
static inline bool dh_instant_knows(const struct dh_instant *m, uint32_t thread, uint32_t time)
{
    if (m->thread == thread)
        return time <= m->time;
    return thread < m->n && time < m->known[thread];
}

#endif
