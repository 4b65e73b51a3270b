/* Analyses of a whole program in their order, and what they found told and stored. Layer: cmd. */
#ifndef DH_CMD_SCAN_REPORT_H
#define DH_CMD_SCAN_REPORT_H

#include "driver/whole_program.h"

struct dh_scan_wishes {
    const char *cache; /* which calls count as walked before: a name of dh_cache */
    const char *program, *db, *suppressions, *explain, *sections; /* any but program may be NULL */
    bool json, statistics;
    bool sequential; /* memory keeps the order of each thread: an object is ready when others learn of it */
    bool wide;       /* atomicity: also reads whose value does not leave its critical section */
    bool all;        /* every pair of places, not the first few of each variable */
};

/* *found: something is suspected (with `explain`: that id is). */
bool dh_scan_report(struct dh_whole_program *w, const struct dh_scan_wishes *wishes, bool *found, struct dh_err *err);

#endif
