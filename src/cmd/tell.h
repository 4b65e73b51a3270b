/* Findings of an event stream, told as they come: the sink that commands give to finding/suspicion_collector.h. Layer:
 * cmd. */
#ifndef DH_CMD_TELL_H
#define DH_CMD_TELL_H

#include "base/vec.h"
#include "finding/suppress.h"
#include "finding/suspicion_collector.h"

struct dh_told_later {
    char *id, *text;
    bool observed;
};

struct dh_teller {
    struct dh_suppressions suppressions;
    bool quiet;          /* nothing is printed */
    bool waits;          /* what the program may tell itself is told at the end, if it did not */
    unsigned suppressed; /* how many were kept quiet */
    DH_VEC(struct dh_told_later) later;
};

/* `suppressions` was checked before (dh_launch_check_suppressions), or is NULL. */
void dh_teller_init(struct dh_teller *t, const char *suppressions, bool quiet);
void dh_teller_release(struct dh_teller *t);
/* Prints reports on standard error, whole. Borrows the teller. */
struct dh_finding_sink dh_teller_sink(struct dh_teller *t);
#define DH_TELLER_SUFFIX ".watch.dhf" /* of logs with what a teller told */
/* At the end: what waited is told, unless other logs at that prefix (or NULL) have it. */
void dh_teller_finish(struct dh_teller *t, const char *log_prefix);

#endif
