/* Names of plans: "race", "engine,stale", "race,conflict-self,no-arrays". Layer: driver. They name variants, too. */
#ifndef DH_DRIVER_PLAN_NAME_H
#define DH_DRIVER_PLAN_NAME_H

#include "event/plan.h"
#include "host/err.h"

/* False with the known names when there is no such. */
bool dh_plan_parse(const char *name, struct dh_plan *plan, struct dh_err *err);
/* Whether it names any classes, besides how much is left out. */
bool dh_plan_names_classes(const char *name);

#endif
