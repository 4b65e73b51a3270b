/* Can the object detector have something to say? Layer: detect. Answers for a fraction of the cost, and errs on one
 * side only: as long as it is quiet, the detector (hybrid, either granularity) would be. What it looks for is weaker
 * than a suspicion: eight bytes that two threads access, one writing, without a lock that all of them hold, and with no
 * order but that of locks. An owner's accesses to its block count once another thread has accessed the block. Not
 * thread-safe. */
#ifndef DH_DETECT_PREFILTER_H
#define DH_DETECT_PREFILTER_H

#include "event/event.h"

#include <stdbool.h>

struct dh_prefilter;
struct dh_prefilter *dh_prefilter_new(void);
void dh_prefilter_free(struct dh_prefilter *s);
/* Every event of the stream, in order; it looks at each a little later. False: from here on, and for what came before,
 * ask the detector. */
bool dh_prefilter_event(struct dh_prefilter *s, const struct dh_event *e);
/* The stream is at its end: what it has not looked at yet. */
bool dh_prefilter_end(struct dh_prefilter *s);

#endif
