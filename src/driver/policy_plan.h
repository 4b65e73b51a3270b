/* Healing policies in plans. Layer: driver. A policy is kept in the cache under the hash of its text, and the name of a
 * plan carries that ("race,heal@HASH"), as a selection of sites does (driver/site_selection.h). */
#ifndef DH_DRIVER_POLICY_PLAN_H
#define DH_DRIVER_POLICY_PLAN_H

#include "event/heal.h"
#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"

/* Reads the file; errors have FILE:LINE:COLUMN. *plan gets "heal@HASH", owned by the caller. */
bool dh_policy_keep(const char *file, char **plan, struct dh_err *err);
/* The same for text; errors call it `name`. */
bool dh_policy_keep_text(const char *name, const char *text, size_t n, char **plan, struct dh_err *err);

/* Whether all that the file names is in the program or an instrumented library that it loads. With
 * `partly`, `note` gets a line for each name that is not, and one whole section suffices; without it, the first such
 * line is the error. */
bool dh_policy_matches(const char *file, const char *program, bool partly, void (*note)(const char *line),
                       struct dh_err *err);

/* The same for what is being linked, with these sites; `trace` names, a line each, the files that were used, of which
 * instrumented libraries have what the program has not. Of a library nothing need be there: it is in the program or in
 * another one. */
bool dh_policy_matches_linked(const char *file, const struct dh_site_table *t, const char *trace, bool library,
                              struct dh_err *err);

/* Whether the site is what a policy calls by this name: its stable name, or FILE:LINE and perhaps :R, :W, :lock, ... */
bool dh_policy_names_site(const struct dh_site_table *t, const struct dh_site *s, const char *name);

/* Fills in plan->heal from the policy in the plan's name, if it has one. Lives as long as the process. */
bool dh_policy_place(const char *plan_name, const struct dh_site_table *t, struct dh_plan *plan, struct dh_err *err);
/* Sets plan->heal->is_library when libraries have sites of the policy: those of the program, or those being linked. */
void dh_policy_find_shared(struct dh_plan *plan, const char *program);
void dh_policy_find_shared_linked(struct dh_plan *plan, const char *trace);

#endif
