/* Converts a detector's suspicion into a record of the findings log. Layer: finding, for suspicion_collector.c. */
#ifndef DH_FINDING_SUSPICION_RECORD_H
#define DH_FINDING_SUSPICION_RECORD_H

#include "detect/detector.h"
#include "event/finding_log.h"
#include "finding/modules.h"
#include "trace/meta.h"

/* Tables that explain the numbers of a stream. Only `modules` must not be NULL. */
struct dh_suspicion_view {
    const struct dh_meta *meta;
    struct dh_run_host words; /* sites of places in no module of `meta` */
    char *(*name)(void *arg, uint64_t addr);
    void *name_arg;
    struct dh_run_state *world;
    struct dh_modules *modules; /* gets a virtual module for `words` and `name` */
};

/* Owns all that the finding points to, except texts of the suspicion and of meta. */
struct dh_suspicion_record {
    struct dh_log_finding finding;
    DH_VEC(struct dh_log_module) modules;
    DH_VEC(struct dh_log_thread) threads;
    DH_VEC(void *) blocks;
};

struct dh_suspicion_record *dh_suspicion_record(const struct dh_suspicion_view *view, const char *detector,
                                                const struct dh_suspicion *from);
void dh_suspicion_record_free(struct dh_suspicion_record *r);
struct dh_log_process dh_suspicion_process(const struct dh_meta *meta);

/* Index of the module that a place belongs to, or that lies around an address; SIZE_MAX: none. */
size_t dh_meta_module_of_place(const struct dh_meta *m, uint32_t place);
size_t dh_meta_module_around(const struct dh_meta *m, uint64_t address);

#endif
