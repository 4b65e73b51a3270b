/* Deferred detection: as long as the prefilter (detect/prefilter.h) finds nothing, events are only buffered; once it
 * does, or they become too many, the detectors get all of them in order, and from then on each as it comes. What they
 * find is the same. Layer: trace. One thread. */
#ifndef DH_TRACE_DEFERRED_FEED_H
#define DH_TRACE_DEFERRED_FEED_H

#include "trace/feed.h"

/* May these detectors, with these options, be deferred? */
bool dh_may_defer(const dh_detector_list *detectors, const struct dh_detector_options *options);

struct dh_deferred_feed;
/* `feed` is borrowed. */
struct dh_deferred_feed *dh_deferred_feed_new(struct dh_feed *feed);
void dh_deferred_feed_event(struct dh_deferred_feed *p, const struct dh_event *e);
/* The stream is at its end; the feed's own end comes after it. */
void dh_deferred_feed_end(struct dh_deferred_feed *p);
void dh_deferred_feed_free(struct dh_deferred_feed *p);

#endif
