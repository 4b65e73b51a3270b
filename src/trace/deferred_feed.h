/* Detectors that hear of a stream only when they may have something to say. Layer: trace. As long as the screen
 * (detect/prefilter.h) is quiet, events are only kept, packed, in memory; once it is not, or they become many, the
 * detectors hear of all of them in their order, and from then on of each as it comes. What they find is the same. One
 * thread. */
#ifndef DH_TRACE_DEFERRED_FEED_H
#define DH_TRACE_DEFERRED_FEED_H

#include "trace/feed.h"

/* May these detectors, with these options, be asked late? */
bool dh_may_defer(const dh_detector_list *detectors, const struct dh_detector_options *options);

struct dh_deferred_feed;
/* `feed` is borrowed. */
struct dh_deferred_feed *dh_deferred_feed_new(struct dh_feed *feed);
void dh_deferred_feed_event(struct dh_deferred_feed *p, const struct dh_event *e);
/* The stream is at its end; the feed's own end comes after it. */
void dh_deferred_feed_end(struct dh_deferred_feed *p);
void dh_deferred_feed_free(struct dh_deferred_feed *p);

#endif
