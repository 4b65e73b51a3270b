/* Static analysis of a whole program: the passes in their order. Layer: analysis. Nothing is run, printed or stored.
 * Program and site table belong to the caller and outlive the results. Not thread-safe. */
#ifndef DH_ANALYSIS_SCAN_H
#define DH_ANALYSIS_SCAN_H

#include "analysis/deadlock.h"
#include "analysis/method_consistency.h"
#include "analysis/points_to_andersen.h"
#include "analysis/races.h"
#include "base/str.h"

struct dh_scan_options {
    enum dh_call_cache cache; /* which calls count as executed before */
    bool sequential;          /* memory keeps the order of each thread: an object is ready when others learn of it */
    bool wide;                /* atomicity: also reads whose value does not leave its critical section */
    bool neighbours;          /* accesses that follow each other, for candidates of atomic sections */
    uint64_t until_ns;        /* of CLOCK_MONOTONIC: it ends then with what it has; 0: when it is done */
    void (*entered)(const char *pass); /* may be NULL: what is done now */
};

enum dh_scan_pass {
    DH_PASS_POINTS_TO,
    DH_PASS_SYMEX,
    DH_PASS_RACES,
    DH_PASS_DEADLOCKS,
    DH_PASS_CONSISTENCY,
    DH_PASSES
};

struct dh_scan {
    const struct dh_program *program;
    struct dh_points_to points_to;
    struct dh_andersen *andersen;
    struct dh_symex symex;
    struct dh_conflicts conflicts;
    struct dh_deadlocks deadlocks;
    struct dh_inconsistencies inconsistencies;
    double seconds[DH_PASSES]; /* processor time */
    struct dh_time_limit limit;
    bool cut[DH_PASSES]; /* the limit was over before the pass was done */
};

void dh_scan_run(struct dh_scan *s, const struct dh_program *p, const struct dh_site_table *sites,
                 const struct dh_scan_options *options);
void dh_scan_release(struct dh_scan *s);
/* Whether every path was followed and every circle of locks tried: no budget was used up. */
bool dh_scan_is_complete(const struct dh_scan *s);
/* What was not looked at for lack of time, in words; nothing when there was time. */
void dh_scan_print_left(const struct dh_scan *s, struct dh_str *out);

#endif
