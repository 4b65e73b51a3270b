/* From a collision of the consistency detector to a report and an event. Layer: runtime. */
#ifndef DH_RUNTIME_CONSISTENCY_REPORT_H
#define DH_RUNTIME_CONSISTENCY_REPORT_H

#include "detect/consistency.h"

/* Of the calling thread, at the access `here`. Equal ones are told once. */
void dh_consistency_report(const struct dh_collision *c);

#endif
