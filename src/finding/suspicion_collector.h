/* Collects the suspicions of detectors that run on an event stream, resolves them to findings and reports each once, as
 * the runtime would. Layer: finding. Fills in a world's host: sites of places, extents of globals, facts about critical
 * sections, and where suspicions go. One thread. */
#ifndef DH_FINDING_SUSPICION_COLLECTOR_H
#define DH_FINDING_SUSPICION_COLLECTOR_H

#include "detect/detector.h"
#include "finding/finding.h"
#include "host/err.h"
#include "trace/meta.h"

struct dh_suspicion_collector;

struct dh_finding_sink {
    /* A finding that is new in this stream, or whose level rose. False: suppressed, neither counted nor logged. */
    bool (*found)(void *arg, const struct dh_finding *f);
    void *arg;
};

/* `meta` is borrowed, may be NULL, and may grow while events come. */
struct dh_suspicion_collector *dh_suspicion_collector_new(const struct dh_meta *meta,
                                                          const struct dh_finding_sink *sink);
void dh_suspicion_collector_free(struct dh_suspicion_collector *s);
/* Callbacks (site, global, may_access) to use instead of the modules' tables: text traces define places of no module.
 */
void dh_suspicion_collector_set_sites(struct dh_suspicion_collector *s, const struct dh_run_host *words);
/* Names variables at addresses of no module: "" for none; the result is owned by the caller. */
void dh_suspicion_collector_set_namer(struct dh_suspicion_collector *s, char *(*name)(void *arg, uint64_t addr),
                                      void *arg);
/* Fills in the callbacks of a world. */
void dh_suspicion_collector_fill_host(struct dh_suspicion_collector *s, struct dh_run_host *host);
/* The world that was made with that host; it knows objects and ended threads. */
void dh_suspicion_collector_set_world(struct dh_suspicion_collector *s, struct dh_run_state *w);
/* Also appends findings to the findings log at `path`, which is created if missing. */
bool dh_suspicion_collector_open_log(struct dh_suspicion_collector *s, const char *path, struct dh_err *err);
/* Number of different findings that the sink accepted. */
unsigned dh_suspicion_collector_count(const struct dh_suspicion_collector *s);
/* Findings that could not be written into the log. */
unsigned dh_suspicion_collector_lost(const struct dh_suspicion_collector *s);

#endif
