/* Levels of findings, for detectors, logs and the store. Layer: event. Names and order: finding_level.def. */
#ifndef DH_EVENT_FINDING_LEVEL_H
#define DH_EVENT_FINDING_LEVEL_H

enum dh_finding_level {
#define DH_FINDING_LEVEL(id, name) DH_LEVEL_##id,
#include "event/finding_level.def"
#undef DH_FINDING_LEVEL
    DH_LEVEL_COUNT
};

#endif
