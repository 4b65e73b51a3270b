/* Healing policies on their way into a variant. Layer: driver. As a selection of sites (driver/site_selection.h), a
 * policy is kept in the cache under the hash of its text, and the name of a plan carries that: "race,heal@HASH". */
#ifndef DH_DRIVER_HEAL_H
#define DH_DRIVER_HEAL_H

#include "event/heal.h"
#include "event/plan.h"
#include "event/site.h"
#include "host/err.h"

/* Reads the file, which is told as FILE:LINE:COLUMN when it is wrong; *plan gets "heal@HASH", owned by the caller. */
bool dh_heal_keep(const char *file, char **plan, struct dh_err *err);
/* The same for text that is told under that name. */
bool dh_heal_keep_text(const char *name, const char *text, size_t n, char **plan, struct dh_err *err);

/* Whether all that the file names is in the program or an instrumented library that it loads. Else `partly` says each
 * line that is not to `tell`, and it is in order as long as one section is whole; without that, the first is the
 * error. */
bool dh_heal_check(const char *file, const char *program, bool partly, void (*tell)(const char *line),
                   struct dh_err *err);

/* The same for what is being linked, with these sites; `trace` names, a line each, the files that were used, of which
 * instrumented libraries have what the program has not. Of a library nothing need be there: it is in the program or in
 * another one. */
bool dh_heal_check_linked(const char *file, const struct dh_site_table *t, const char *trace, bool library,
                          struct dh_err *err);

/* Whether the site is what a policy calls by this name: its stable name, or FILE:LINE and perhaps :R, :W, :lock, ... */
bool dh_heal_names_site(const struct dh_site_table *t, const struct dh_site *s, const char *name);
/* Whether the access touches what a policy calls by this name. */
bool dh_heal_names_variable(const struct dh_site_table *t, const struct dh_site *s, const char *name);

/* What the plan's name says of healing; nothing to do when it says nothing. The plan's until dh_heal_release. */
bool dh_heal_apply(const char *plan_name, const struct dh_site_table *t, struct dh_plan *plan, struct dh_err *err);
void dh_heal_release(struct dh_plan *plan);
/* Whether libraries have sites of the policy that the plan has: of the program's, or of those that were linked. */
void dh_heal_look_at_libraries(struct dh_plan *plan, const char *program);
void dh_heal_look_at_linked(struct dh_plan *plan, const char *trace);

#endif
