/* One suspicion of static analysis as a finding. Layer: finding. Names and places come from the site table where an
 * instruction has a row in it, so that what is suspected here and observed in a run is one finding. */
#ifndef DH_FINDING_SCAN_FINDING_H
#define DH_FINDING_SCAN_FINDING_H

#include "analysis/deadlock.h"
#include "analysis/method_consistency.h"
#include "finding/finding.h"

struct dh_scan_subject {
    const struct dh_symex *symex;
    const char *program; /* path */
    char build[33];
};

/* `f` is initialised here and released by the caller. `text` says what it rests on. */
void dh_scan_race(const struct dh_scan_subject *n, uint32_t one, uint32_t other, const char *text,
                  struct dh_finding *f);
void dh_scan_violation(const struct dh_scan_subject *n, const struct dh_violation *v, struct dh_finding *f);
void dh_scan_deadlock(const struct dh_scan_subject *n, const struct dh_deadlock *d, struct dh_finding *f);
/* Whether any access of it has a line of the source. */
bool dh_scan_has_line(const struct dh_finding *f);

#endif
