/* From what detectors say of an event stream to findings as the checked program itself would have told them. Layer:
 * finding (with the stream's side of detect and trace). Lends a world its host: what places mean, where globals lie,
 * and who hears suspicions. Equal ones are told once. One thread. */
#ifndef DH_FINDING_SUSPICION_COLLECTOR_H
#define DH_FINDING_SUSPICION_COLLECTOR_H

#include "detect/detector.h"
#include "finding/finding.h"
#include "host/err.h"
#include "trace/meta.h"

struct dh_suspicion_collector;

struct dh_finding_sink {
    /* One that was not told yet in this stream, or rises. False: it is to be kept quiet, neither counted nor logged. */
    bool (*found)(void *arg, const struct dh_finding *f);
    void *arg;
};

/* `meta` is borrowed, may be NULL, and may grow while events come. */
struct dh_suspicion_collector *dh_suspicion_collector_new(const struct dh_meta *meta,
                                                          const struct dh_finding_sink *sink);
void dh_suspicion_collector_free(struct dh_suspicion_collector *s);
/* Who knows better: what this host answers (site, global, may_access) counts instead of what the modules say. Places of
 * no module, as in text traces, are known to it alone. */
void dh_suspicion_collector_set_sites(struct dh_suspicion_collector *s, const struct dh_world_host *words);
/* Who names what lies at an address of no module: "" for nothing, owned by the caller. */
void dh_suspicion_collector_set_namer(struct dh_suspicion_collector *s, char *(*name)(void *arg, uint64_t addr),
                                      void *arg);
/* Fills in all that a world asks its host. */
void dh_suspicion_collector_fill_host(struct dh_suspicion_collector *s, struct dh_world_host *host);
/* The world that was made with it: tells which object it is and which threads have ended. */
void dh_suspicion_collector_set_world(struct dh_suspicion_collector *s, struct dh_world *w);
/* What is found goes also into the findings log at `path` (made if missing), as it is found. */
bool dh_suspicion_collector_open_log(struct dh_suspicion_collector *s, const char *path, struct dh_err *err);
/* How many different findings were told and not kept quiet. */
unsigned dh_suspicion_collector_count(const struct dh_suspicion_collector *s);
/* Findings that could not be written into the log, for whatever reason: their number. */
unsigned dh_suspicion_collector_lost(const struct dh_suspicion_collector *s);

/* What the modules of a stream are known by, for others who need their containers; NULL: there is no such module. */
struct dh_known_module *dh_suspicion_collector_module(struct dh_suspicion_collector *s, uint32_t place,
                                                      uint32_t *own_place);

#endif
