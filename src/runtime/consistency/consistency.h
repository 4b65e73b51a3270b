/* From a collision of the consistency detector to a report and an event. Layer: runtime. */
#ifndef DH_RUNTIME_CONSISTENCY_CONSISTENCY_H
#define DH_RUNTIME_CONSISTENCY_CONSISTENCY_H

#include "detect/consistency.h"

/* Of the calling thread, at the access `here`. Equal ones are told once. */
void dh_consistency_tell(const struct dh_collision *c);

#endif
