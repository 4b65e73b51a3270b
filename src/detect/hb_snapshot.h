/* Instants of a run that can be compared later: a thread's time and what it knew of the others then. Layer: detect.
 * dh_happens answers for now only; detectors that judge at the end keep instants. Counted references. */
#ifndef DH_DETECT_HB_SNAPSHOT_H
#define DH_DETECT_HB_SNAPSHOT_H

#include "base/vec.h"
#include "detect/happens_before.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_hb_snapshot {
    uint32_t thread, time;
    uint32_t refs, n;
    uint32_t known[]; /* by thread: one more than its last time that is before this instant; 0: none is */
};

struct dh_hb_snapshots {
    struct dh_happens *happens;
    DH_VEC(struct dh_hb_snapshot *) now; /* by thread, NULL when it has changed */
};

void dh_hb_snapshots_init(struct dh_hb_snapshots *m, unsigned edges);
void dh_hb_snapshots_release(struct dh_hb_snapshots *m);
/* Every event that is no access, after the detector has looked at it. */
void dh_hb_snapshots_event(struct dh_hb_snapshots *m, const struct dh_event *e);
/* What the thread's instant is now, among `threads` threads; the caller drops it. */
struct dh_hb_snapshot *dh_hb_snapshots_current(struct dh_hb_snapshots *m, uint32_t thread, uint32_t threads);
uint32_t dh_instants_time(struct dh_hb_snapshots *m, uint32_t thread);
void dh_hb_snapshot_unref(struct dh_hb_snapshot *m);

/* Is (thread, time) before the instant? */
static inline bool dh_instant_knows(const struct dh_hb_snapshot *m, uint32_t thread, uint32_t time)
{
    if (m->thread == thread)
        return time <= m->time;
    return thread < m->n && time < m->known[thread];
}

#endif
