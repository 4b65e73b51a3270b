/* How far the objects of a run came in the object race detector (von Praun, Table 7.2). Layer: detect. */
#ifndef DH_DETECT_OBJECT_H
#define DH_DETECT_OBJECT_H

#include <stdint.h>

/* Each includes those to its right. */
struct dh_object_counts {
    uint64_t init, handoff, shared_read, shared_modified, conflict;
};

/* Of what `dh_detector_object.begin` answered. */
const struct dh_object_counts *dh_object_counts(const void *detector);

#endif
