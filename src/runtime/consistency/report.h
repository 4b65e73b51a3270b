/* From a violation that the consistency detector found to a report and an event. Layer: runtime. Any thread. */
#ifndef DH_RUNTIME_CONSISTENCY_REPORT_H
#define DH_RUNTIME_CONSISTENCY_REPORT_H

#include "detect/consistency.h"

/* In the calling thread, at the access `here`. Equal ones are reported once. */
void dh_consistency_report(const struct dh_collision *c);

#endif
