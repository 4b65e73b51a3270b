/* What the analyses make of each access and allocation, by site: for tables that count how often these are executed
 * (003, 4.7 and 4.8). Layer: analysis. */
#ifndef DH_ANALYSIS_SITE_CLASSES_H
#define DH_ANALYSIS_SITE_CLASSES_H

#include "analysis/races.h"
#include "base/str.h"

/* Adds a JSON object: lists of site numbers. Of accesses: to objects that globals or threads lead to (complete with
 * DH_CACHE_UNPRUNED only), that are shared and written, that are in conflict, and those in conflict themselves. Of
 * heap allocations: all, arrays, and those whose object is shared, or in conflict. */
void dh_site_classes_print(struct dh_str *out, const struct dh_conflicts *c);

#endif
