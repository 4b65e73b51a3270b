/* Which sites AtomRace and noise look at, and which answer stale values, by name. Layer: driver. A selection is text,
 * kept in the cache under the hash of its content: a plan's name carries the hash ("race,atomrace@HASH"), so that
 * programs started by others find it, and no variant is taken for another. */
#ifndef DH_DRIVER_SITE_SELECTION_H
#define DH_DRIVER_SITE_SELECTION_H

#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"

#include <stddef.h>

/* Lines of the text, in any order but for the last:
 *   sites TARGET          where accesses collide; without any such line nowhere
 *   noise GROUP TARGET    sites of a clause of --noise that names targets
 *   maybe GROUP TARGET    the same, out of the store: the program need not have it
 *   sections BYTES        and then the section file
 * TARGET = all, var:NAME, fun:NAME, file:NAME, loc:FILE:LINE or site:STABLE-NAME. */
#define DH_SELECTION_MARK '@'

/* NULL, or why it is no target. */
const char *dh_target_check(const char *target);
/* Whether the site is what the target names. */
bool dh_target_matches(const struct dh_site_table *t, const struct dh_site *s, const char *target);

/* Keeps the text; *name gets what stands behind the mark in plans, *path where it lies. Both owned by the caller. */
bool dh_selection_store(const char *text, size_t n, char **name, char **path, struct dh_err *err);

/* Whether everything that the kept text names is in the program or a library that it loads; else the first that is
 * not. */
bool dh_selection_check(const char *path, const char *program, struct dh_err *err);

/* Bits and marks of a plan, by the selection that its name carries; nothing to do without one. The arrays are the
 * plan's until dh_selection_release. */
bool dh_selection_apply(const char *plan_name, const struct dh_site_table *t, struct dh_plan *plan, struct dh_err *err);
void dh_selection_release(struct dh_plan *plan);

#endif
