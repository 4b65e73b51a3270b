/* Findings that are one defect to its reader: races on one variable between the same two functions, at whatever places
 * in them; and those that two calls of the user's make inside a library of the system, whatever its variables are: a
 * container that is used by two threads races on each of its fields. One of them gets a witness, the others are
 * counted. Layer: finding. */
#ifndef DH_FINDING_GROUP_H
#define DH_FINDING_GROUP_H

#include "finding/finding.h"

/* The same for findings of one group; 0: it stands for itself. Within one process only. */
uint64_t dh_finding_group(const struct dh_finding *f);
/* Are both accesses made by headers or libraries of the system that the user calls? */
bool dh_finding_is_between_calls(const struct dh_finding *f);

#endif
