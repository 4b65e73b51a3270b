/* Results of a scan on standard output: reports, statistics, explanations. Layer: cmd. */
#ifndef DH_CMD_SCAN_PRINT_H
#define DH_CMD_SCAN_PRINT_H

#include "finding/scan_results.h"

void dh_scan_print_text(const struct dh_scan_results *r, bool statistics);
void dh_scan_print_json(const struct dh_scan_results *r, bool statistics);
/* Why the finding whose id begins so was not ruled out, or, of FILE:LINE, what was decided of accesses there. Whether
 * there is such a one. */
bool dh_scan_print_why(struct dh_scan_results *r, const char *what);

#endif
