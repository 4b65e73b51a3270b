/* What static analysis suspects, as findings. Layer: cmd. Names and places come from the site table where an
 * instruction has a row in it, so that what is suspected here and observed in a run is one finding. */
#ifndef DH_CMD_SCAN_FINDINGS_H
#define DH_CMD_SCAN_FINDINGS_H

#include "analysis/deadlock.h"
#include "analysis/method_consistency.h"
#include "driver/whole_program.h"
#include "finding/finding.h"

struct dh_scan_names {
    const struct dh_whole_program *whole;
    const struct dh_walk *walk;
    const char *program; /* path */
    char build[33];
};

/* `f` is initialised here and released by the caller. `text` says what it rests on. */
void dh_scan_race(const struct dh_scan_names *n, uint32_t one, uint32_t other, const char *text, struct dh_finding *f);
void dh_scan_violation(const struct dh_scan_names *n, const struct dh_violation *v, struct dh_finding *f);
/* Whether two accesses name fields of different structures: `self` is a struct dh_scan_names. */
bool dh_scan_differ(const void *self, uint32_t inst, uint32_t other);
void dh_scan_deadlock(const struct dh_scan_names *n, const struct dh_deadlock *d, struct dh_finding *f);
/* Where it begins, as the source says. */
const char *dh_scan_thread_name(const struct dh_scan_names *n, uint32_t thread);
/* "vault.lock": the caller frees it. */
char *dh_scan_lock_name(const struct dh_scan_names *n, const struct dh_held *h);
/* Whether the finding is about anything with a name in the source. */
bool dh_scan_is_told(const struct dh_finding *f);

#endif
