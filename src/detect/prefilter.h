/* Prefilter of the object detector: a cheap check that errs on the safe side. Layer: detect. As long as it finds
 * nothing, the detector (hybrid, either granularity) would not either. It looks for less than a suspicion: a granule
 * that two threads access, one writing, without a common lock, and without order except by locks. An owner's accesses
 * to its block count once another thread has accessed the block. Not thread-safe. */
#ifndef DH_DETECT_PREFILTER_H
#define DH_DETECT_PREFILTER_H

#include "event/event.h"

#include <stdbool.h>

struct dh_prefilter;
struct dh_prefilter *dh_prefilter_new(void);
void dh_prefilter_free(struct dh_prefilter *s);
/* Every event of the stream, in order; each is checked a little later. False: the detector must see this event, all
 * before and all to come. */
bool dh_prefilter_event(struct dh_prefilter *s, const struct dh_event *e);
/* The stream is at its end: checks what is still queued. */
bool dh_prefilter_end(struct dh_prefilter *s);

#endif
