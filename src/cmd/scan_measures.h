/* Sizes of what the analyses worked on, as the tables of the dissertation count them (003, 3.2 to 6.1): for
 * bench/static-tables. Layer: cmd. */
#ifndef DH_CMD_SCAN_MEASURES_H
#define DH_CMD_SCAN_MEASURES_H

#include "analysis/races.h"
#include "base/str.h"

/* Adds a JSON object. */
void dh_scan_measures(struct dh_str *out, const struct dh_conflicts *c);

#endif
