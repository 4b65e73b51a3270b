/* Detectors over an event stream, and what they find as findings: for every command that feeds them. Layer: finding. */
#ifndef DH_FINDING_WATCH_H
#define DH_FINDING_WATCH_H

#include "finding/suspicion_collector.h"
#include "trace/feed.h"

struct dh_watch;
/* `meta` may be NULL and may grow; `words` explains places that no module does, or is NULL. NULL with one line when
 * a detector refuses its options. */
struct dh_watch *dh_watch_new(const struct dh_meta *meta, const struct dh_run_host *words,
                              const dh_detector_list *detectors, const struct dh_detector_options *options,
                              const struct dh_finding_sink *sink, struct dh_err *err);
void dh_watch_event(struct dh_watch *w, const struct dh_event *e);
/* The stream is at its end. */
void dh_watch_end(struct dh_watch *w);
/* What the detectors counted so far, in lines. */
void dh_watch_count(const struct dh_watch *w, struct dh_str *out);
struct dh_suspicion_collector *dh_watch_suspicions(struct dh_watch *w);
void dh_watch_free(struct dh_watch *w);

#endif
