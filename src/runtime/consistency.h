/* From a collision of the consistency detector to a report and an event. Layer: runtime. */
#ifndef DH_RUNTIME_CONSISTENCY_H
#define DH_RUNTIME_CONSISTENCY_H

#include "detect/consistency.h"

/* Of the calling thread, at the access `here`. Equal ones are told once. */
void dh_consistency_tell(const struct dh_collision *c);

/* Of the recorder: what the calling thread is about to do met `other`, which it did not order. Collisions cannot be
 * found in a trace, so they are written into it. */
struct dh_recorded_access {
    uint32_t thread, place;
    uintptr_t addr;
    uint32_t size;
    bool writes;
};
__attribute__((weak)) void dh_record_collision(const struct dh_recorded_access *here,
                                               const struct dh_recorded_access *other);

#endif
