/* Critical and indefinite waits (003 ch. 6) in one run: condition waits that may never be signalled, and what threads
 * were waiting for when the stream ended. Layer: detect. Part of the deadlock detector. */
#ifndef DH_DETECT_WAITS_H
#define DH_DETECT_WAITS_H

#include "detect/detector.h"
#include "detect/lock_order.h"

struct dh_waits;
struct dh_waits *dh_waits_new(struct dh_run_state *w, const struct dh_detector *detector, struct dh_lock_order *order);
void dh_waits_free(struct dh_waits *w);
/* `number` counts events. */
void dh_waits_event(struct dh_waits *w, const struct dh_event *e, struct dh_must_hb *must_hb, uint64_t number);
void dh_waits_end(struct dh_waits *w);

#endif
