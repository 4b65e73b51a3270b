/* Dispatches an event stream to the state of the run and to detectors. Layer: trace. The host is the caller's: it
 * resolves places and receives suspicions. One thread. */
#ifndef DH_TRACE_FEED_H
#define DH_TRACE_FEED_H

#include "base/vec.h"
#include "detect/detector.h"
#include "host/err.h"
#include "trace/meta.h"

#include <stdbool.h>
#include <stddef.h>

typedef DH_VEC(const struct dh_detector *) dh_detector_list;

/* Parses "lockset,views"; each once, "all" is every one. False for an unknown name: the error lists the known ones. */
bool dh_detectors_parse(const char *list, dh_detector_list *out, struct dh_err *err);

struct dh_feed;
/* `meta` may be NULL; it says which threads there are and must outlive the feed. NULL when a detector refuses its
 * options. */
struct dh_feed *dh_feed_new(const struct dh_meta *meta, const struct dh_run_host *host,
                            const dh_detector_list *detectors, const struct dh_detector_options *options,
                            struct dh_err *err);
void dh_feed_event(struct dh_feed *f, const struct dh_event *e);
/* The stream is at its end: detectors report what they can only decide now. */
void dh_feed_end(struct dh_feed *f);
/* Statistics of the detectors, in lines. */
void dh_feed_count(const struct dh_feed *f, struct dh_str *out);
void dh_feed_free(struct dh_feed *f);
struct dh_run_state *dh_feed_world(struct dh_feed *f);

#endif
