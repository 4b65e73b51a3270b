/* Statistics of the object race detector: how many objects reached which state (003 Table 7.2). Layer: detect. */
#ifndef DH_DETECT_OBJECT_H
#define DH_DETECT_OBJECT_H

#include <stdint.h>

/* Each count includes those to its right. */
struct dh_object_counts {
    uint64_t init, handoff, shared_read, shared_modified, conflict;
};

/* `detector` is what dh_detector_object.begin returned. */
const struct dh_object_counts *dh_object_counts(const void *detector);

#endif
