/* From what detectors say of an event stream to findings as the checked program itself would have told them. Layer:
 * finding (with the stream's side of detect and trace). Lends a world its host: what places mean, where globals lie,
 * and who hears suspicions. Equal ones are told once. One thread. */
#ifndef DH_FINDING_SUSPICION_H
#define DH_FINDING_SUSPICION_H

#include "detect/detector.h"
#include "finding/finding.h"
#include "host/err.h"
#include "trace/meta.h"

struct dh_suspicions;

struct dh_suspicions_sink {
    /* One that was not told yet in this stream, or rises. False: it is to be kept quiet, neither counted nor logged. */
    bool (*found)(void *arg, const struct dh_finding *f);
    void *arg;
};

/* `meta` is borrowed, may be NULL, and may grow while events come. */
struct dh_suspicions *dh_suspicions_new(const struct dh_meta *meta, const struct dh_suspicions_sink *sink);
void dh_suspicions_free(struct dh_suspicions *s);
/* Who knows better: what this host answers (site, global, may_access) counts instead of what the modules say. Places of
 * no module, as in text traces, are known to it alone. */
void dh_suspicions_ask(struct dh_suspicions *s, const struct dh_run_host *words);
/* Who names what lies at an address of no module: "" for nothing, owned by the caller. */
void dh_suspicions_names(struct dh_suspicions *s, char *(*name)(void *arg, uint64_t addr), void *arg);
/* Fills in all that a world asks its host. */
void dh_suspicions_host(struct dh_suspicions *s, struct dh_run_host *host);
/* The world that was made with it: tells which object it is and which threads have ended. */
void dh_suspicions_watch(struct dh_suspicions *s, struct dh_run_state *w);
/* What is found goes also into the findings log at `path` (made if missing), as it is found. */
bool dh_suspicions_log(struct dh_suspicions *s, const char *path, struct dh_err *err);
/* How many different findings were told and not kept quiet. */
unsigned dh_suspicions_count(const struct dh_suspicions *s);
/* Findings that could not be written into the log, for whatever reason: their number. */
unsigned dh_suspicions_lost(const struct dh_suspicions *s);

/* What the modules of a stream are known by, for others who need their containers; NULL: there is no such module. */
struct dh_known_module *dh_suspicions_module(struct dh_suspicions *s, uint32_t place, uint32_t *own_place);

#endif
