/* Snapshots of happens-before: a thread's vector clock as it was, kept so that points of a run can be compared after
 * they have passed (happens_before.h answers for the present only). Layer: detect. One snapshot is shared by all that a
 * thread does between two synchronisations; references are counted. Not thread-safe. */
#ifndef DH_DETECT_HB_SNAPSHOT_H
#define DH_DETECT_HB_SNAPSHOT_H

#include "base/vec.h"
#include "detect/happens_before.h"

#include <stdbool.h>
#include <stdint.h>

/* An entry of a vector clock: which one, and its value. */
struct dh_hb_epoch {
    uint32_t slot, time;
};

struct dh_hb_snapshot {
    uint32_t thread;
    struct dh_hb_epoch epoch; /* of the thread itself */
    uint32_t refs, n;
    uint32_t clock[]; /* by slot */
};

struct dh_hb_snapshots {
    struct dh_happens *hb;
    DH_VEC(struct dh_hb_snapshot *) current; /* by thread; NULL: not asked for since the thread synchronised */
};

/* `edges` of happens_before.h. */
void dh_hb_snapshots_init(struct dh_hb_snapshots *s, unsigned edges);
void dh_hb_snapshots_release(struct dh_hb_snapshots *s);
/* Every event, after the detector has handled it. */
void dh_hb_snapshots_event(struct dh_hb_snapshots *s, const struct dh_event *e);
/* The thread's clock has changed by other means than an event. */
void dh_hb_snapshots_invalidate(struct dh_hb_snapshots *s, uint64_t thread);
/* Of what the thread does now; borrowed until the thread's next event. NULL: its index is refused. */
struct dh_hb_snapshot *dh_hb_snapshots_current(struct dh_hb_snapshots *s, uint32_t thread);
struct dh_hb_epoch dh_hb_snapshots_epoch(struct dh_hb_snapshots *s, uint32_t thread);

struct dh_hb_snapshot *dh_hb_snapshot_ref(struct dh_hb_snapshot *s);
void dh_hb_snapshot_unref(struct dh_hb_snapshot *s);

/* A thread's own epochs are in the order of its time. */
static inline bool dh_hb_epoch_before(struct dh_hb_epoch e, const struct dh_hb_snapshot *s)
{
    return e.slot < s->n && s->clock[e.slot] >= e.time;
}
static inline bool dh_hb_snapshot_before(const struct dh_hb_snapshot *a, const struct dh_hb_snapshot *b)
{
    return dh_hb_epoch_before(a->epoch, b);
}
static inline bool dh_hb_snapshots_concurrent(const struct dh_hb_snapshot *a, const struct dh_hb_snapshot *b)
{
    return a->thread != b->thread && !dh_hb_snapshot_before(a, b) && !dh_hb_snapshot_before(b, a);
}

#endif
