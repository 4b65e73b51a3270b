/* Must-happens-before: order that holds in every run which synchronises alike. Layer: detect. Edges come from
 * everything but locks (happens_before.h), and from critical sections whose order is forced: where a thread learns of
 * something that was released inside a section (it was created there, say) and then acquires the same lock, the
 * section's end is before that. Not thread-safe. */
#ifndef DH_DETECT_MUST_HB_H
#define DH_DETECT_MUST_HB_H

#include "detect/hb_snapshot.h"

struct dh_must_hb;
/* `edges` of happens_before.h, without locks. */
struct dh_must_hb *dh_must_hb_new(unsigned edges);
void dh_must_hb_free(struct dh_must_hb *m);
/* Every event, after its thread's snapshot was asked for. */
void dh_must_hb_event(struct dh_must_hb *m, const struct dh_event *e);
/* Borrowed until the thread's next event. NULL: the thread's index is refused. */
struct dh_hb_snapshot *dh_must_hb_current(struct dh_must_hb *m, uint32_t thread);

#endif
