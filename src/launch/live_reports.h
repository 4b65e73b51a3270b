/* Reports of an event stream's findings while the program runs: a sink for finding/suspicion_collector.h. Layer:
 * launch. */
#ifndef DH_LAUNCH_LIVE_REPORTS_H
#define DH_LAUNCH_LIVE_REPORTS_H

#include "base/vec.h"
#include "finding/suppress.h"
#include "finding/suspicion_collector.h"

struct dh_postponed_report {
    char *id, *text;
    bool observed;
};

struct dh_live_reports {
    struct dh_suppressions suppressions;
    void (*report)(const char *text); /* prints one, whole; NULL: none is printed */
    bool waits;                       /* what the runtime may report itself is reported at the end, if it did not */
    unsigned suppressed;              /* how many suppressions kept back */
    DH_VEC(struct dh_postponed_report) later;
};

/* `suppressions` was checked before (dh_suppressions_option_check), or is NULL. */
void dh_live_reports_init(struct dh_live_reports *t, const char *suppressions, void (*report)(const char *text));
void dh_live_reports_release(struct dh_live_reports *t);
/* Borrows the reports. */
struct dh_finding_sink dh_live_reports_sink(struct dh_live_reports *t);
#define DH_LIVE_LOG_SUFFIX ".watch.dhf" /* of logs with what was reported this way */
/* At the end: what was postponed is reported, unless other logs at that prefix (or NULL) have it. */
void dh_live_reports_finish(struct dh_live_reports *t, const char *log_prefix);

#endif
