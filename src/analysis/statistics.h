/* Sizes of what the analyses worked on, as the tables of the dissertation count them (003, 3.2 to 6.1): for
 * bench/static-tables. Layer: analysis. */
#ifndef DH_ANALYSIS_STATISTICS_H
#define DH_ANALYSIS_STATISTICS_H

#include "analysis/races.h"
#include "base/str.h"

/* Adds a JSON object. */
void dh_statistics_print(struct dh_str *out, const struct dh_conflicts *c);

#endif
