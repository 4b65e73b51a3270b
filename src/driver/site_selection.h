/* Site selections: which sites AtomRace checks, get noise, or may read stale values. Layer: driver. A selection is
 * text, stored in the cache under the hash of its content, and a plan's name carries the hash ("race,atomrace@HASH"):
 * child processes find it, and variants of different selections differ by name. */
#ifndef DH_DRIVER_SITE_SELECTION_H
#define DH_DRIVER_SITE_SELECTION_H

#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"

#include <stddef.h>

/* Lines of the text, in any order except the last:
 *   sites TARGET          sites that AtomRace checks; without such a line none
 *   noise GROUP TARGET    sites of a clause of --noise that names targets
 *   maybe GROUP TARGET    the same from the store: the program need not have it
 *   sections BYTES        followed by the section file
 * TARGET = all, var:NAME, fun:NAME, file:NAME, loc:FILE:LINE or site:STABLE-NAME. */
#define DH_SELECTION_MARK '@'

/* NULL, or what is wrong with it. */
const char *dh_target_check(const char *target);
/* Whether the target names the site. */
bool dh_target_matches(const struct dh_site_table *t, const struct dh_site *s, const char *target);

/* Stores the text; *name gets the part of a plan's name after the mark, *path the file. Both owned by the caller. */
bool dh_selection_store(const char *text, size_t n, char **name, char **path, struct dh_err *err);

/* Whether the program or a library that it loads has all that the selection names; err names the first missing. */
bool dh_selection_check(const char *path, const char *program, struct dh_err *err);

/* Sets bits and marks of a plan by the selection in its name, if any. The arrays live as long as the
 * process, a child that builds one variant. */
bool dh_selection_apply(const char *plan_name, const struct dh_site_table *t, struct dh_plan *plan, struct dh_err *err);

#endif
