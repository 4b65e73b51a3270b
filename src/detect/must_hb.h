/* Turns: moments of threads that can be compared after they have passed: which of two is before the other in every
 * run that does the same. Layer: detect. Order comes from everything but locks (happens.h), and from locks where there
 * is no choice: a thread that was created while its creator holds a lock gets that lock later than the creator gives
 * it. A moment is shared by all that is done between two synchronisations; whoever keeps one puts it back. */
#ifndef DH_DETECT_MUST_HB_H
#define DH_DETECT_MUST_HB_H

#include "event/event.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_turn {
    uint32_t thread, slot, time;
    uint32_t users, n;
    uint32_t known[]; /* the latest time of each slot that is before */
};

struct dh_must_hb;
/* `edges` of happens.h. */
struct dh_must_hb *dh_must_hb_new(unsigned edges);
void dh_must_hb_free(struct dh_must_hb *m);
/* Every event, after its thread's moment was asked for. */
void dh_must_hb_event(struct dh_must_hb *m, const struct dh_event *e);
/* What the thread does now; borrowed until the next event. NULL: a thread whose number is refused. */
struct dh_turn *dh_must_hb_current(struct dh_must_hb *m, uint32_t thread);

struct dh_turn *dh_hb_snapshot_ref(struct dh_turn *m);
void dh_turn_put(struct dh_turn *m);

/* A thread's own moments are in the order of its time. */
static inline bool dh_hb_snapshot_before(const struct dh_turn *a, const struct dh_turn *b)
{
    return a->slot < b->n && b->known[a->slot] >= a->time;
}
static inline bool dh_hb_snapshots_concurrent(const struct dh_turn *a, const struct dh_turn *b)
{
    return a->thread != b->thread && !dh_hb_snapshot_before(a, b) && !dh_hb_snapshot_before(b, a);
}

#endif
