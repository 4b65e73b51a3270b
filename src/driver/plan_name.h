/* Parses plan names: "race", "engine,stale", "race,conflict-self,no-arrays". Layer: driver. A variant has the name of
 * its plan. */
#ifndef DH_DRIVER_PLAN_NAME_H
#define DH_DRIVER_PLAN_NAME_H

#include "event/plan.h"
#include "host/err.h"

/* False for an unknown name; err lists the known ones. */
bool dh_plan_parse(const char *name, struct dh_plan *plan, struct dh_err *err);
/* Whether it names hook classes, not only a degree of sparse instrumentation. */
bool dh_plan_names_classes(const char *name);

#endif
