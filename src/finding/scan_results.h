/* The findings of a whole scan: each once, grouped by variable, without what is suppressed. Layer: finding. Owns the
 * findings; borrows scan and suppressions. */
#ifndef DH_FINDING_SCAN_RESULTS_H
#define DH_FINDING_SCAN_RESULTS_H

#include "analysis/scan.h"
#include "finding/scan_finding.h"
#include "finding/suppress.h"

/* What a finding was made from. */
struct dh_scan_origin {
    enum { DH_FROM_RACE, DH_FROM_DEADLOCK, DH_FROM_VIOLATION } kind;
    uint32_t index; /* in the list of that kind */
};

/* Findings of one kind about one variable are one report. */
struct dh_scan_group {
    uint32_t first;       /* finding */
    uint32_t kept, pairs; /* of the first one: how many findings, how many pairs of places there are */
};

struct dh_scan_results {
    struct dh_scan *scan;
    struct dh_scan_subject subject;
    const struct dh_suppressions *suppressions;
    bool all; /* every pair of places, not the first few of each variable */
    DH_VEC(struct dh_finding) findings;
    DH_VEC(struct dh_scan_origin) origins; /* of each finding */
    DH_VEC(struct dh_scan_group) groups;   /* of each finding */
    size_t n_reports;
    unsigned suppressed, more; /* findings left out: by a suppression, because their group has enough */
    struct dh_scan_index *index;
};

/* The caller has set scan, subject, suppressions and all. */
void dh_scan_results_gather(struct dh_scan_results *r);
void dh_scan_results_release(struct dh_scan_results *r);
/* As one run of the store at `path`; without findings nothing is stored. */
bool dh_scan_results_store(struct dh_scan_results *r, const char *path, struct dh_err *err);
/* The race through which others learn of the object before it is ready (003 §4.6), NULL: none. The caller frees it. */
char *dh_scan_escape_text(const struct dh_scan_results *r, const struct dh_conflict *c);

#endif
