/* What belongs together in a program, as a section file for atomrace and for policies. Layer: cmd. From violations that
 * are suspected (load-and-store, test-and-use) and from accesses that follow each other (001 §2, AI invariants). */
#ifndef DH_CMD_SCAN_SECTIONS_H
#define DH_CMD_SCAN_SECTIONS_H

#include "cmd/scan_findings.h"

/* *n: how many sections were written. */
bool dh_scan_sections(const struct dh_scan_names *names, const struct dh_inconsistencies *c, const char *path,
                      unsigned *n, struct dh_err *err);

#endif
