/* Detectors over an event stream, and what they find as findings: for every command that feeds them. Layer: cmd. */
#ifndef DH_CMD_WATCH_H
#define DH_CMD_WATCH_H

#include "cmd/command.h"
#include "cmd/meaning.h"
#include "finding/finding.h"
#include "trace/feed.h"

struct dh_watch;
/* Options of detectors are asked of `p` by their names. `m` is the caller's and must outlive the watch. NULL with one
 * line when a detector refuses its options. */
struct dh_watch *dh_watch_new(struct dh_meaning *m, const dh_detector_list *detectors, const struct dh_parsed *p,
                              struct dh_err *err);
void dh_watch_event(struct dh_watch *w, const struct dh_event *e);
void dh_watch_end(struct dh_watch *w);
/* What was found so far, equal ones merged; valid until the next event. */
const struct dh_finding *dh_watch_findings(const struct dh_watch *w, size_t *n);
/* Adds them to the store as one run. */
bool dh_watch_store(const struct dh_watch *w, const char *db, const char *program, const char *arguments,
                    struct dh_err *err);
void dh_watch_free(struct dh_watch *w);

/* A suspicion in the terms of its reader; `out` is initialised here and released by the caller. */
void dh_watch_finding(struct dh_meaning *m, const char *detector, const struct dh_suspicion *s, struct dh_finding *out);

#endif
