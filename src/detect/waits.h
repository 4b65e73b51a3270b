/* Waits that may not end: for conditions, and whatever threads were waiting for when the stream ended. Layer: detect.
 * Part of the deadlock detector: von Praun, chapter 6, critical and indefinite waits, seen in one run. */
#ifndef DH_DETECT_WAITS_H
#define DH_DETECT_WAITS_H

#include "detect/detector.h"
#include "detect/lock_order.h"

struct dh_waits;
struct dh_waits *dh_waits_new(struct dh_run_state *w, const struct dh_detector *who, struct dh_lock_order *order);
void dh_waits_free(struct dh_waits *w);
/* `number` counts events. */
void dh_waits_event(struct dh_waits *w, const struct dh_event *e, struct dh_must_hb *must_hb, uint64_t number);
void dh_waits_end(struct dh_waits *w);

#endif
