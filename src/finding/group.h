/* Findings that are one defect to its reader: races on one variable between the same two functions, at whatever places
 * in them. One of them gets a witness, the others are counted. Layer: finding. */
#ifndef DH_FINDING_GROUP_H
#define DH_FINDING_GROUP_H

#include "finding/finding.h"

/* The same for findings of one group; 0: it stands for itself. Within one process only. */
uint64_t dh_finding_group(const struct dh_finding *f);

#endif
