/* Where threads of the recorded run came closest to one another: for each pair of visible places that accessed the same
 * bytes, one of them writing, the step of the earlier access when the later one followed it soonest. Schedules that
 * begin shortly before have little to change to bring them together. Layer: runtime. In lasting memory. */
#ifndef DH_RUNTIME_ENGINE_SCHEDULE_MEETINGS_H
#define DH_RUNTIME_ENGINE_SCHEDULE_MEETINGS_H

#include "runtime/engine/engine.h"

enum { DH_MEETINGS = 512, DH_MEETINGS_LATEST = 1024 };

struct dh_meetings {
    struct dh_meeting {
        uint32_t sites[2];
        uint32_t step, distance;
    } at[DH_MEETINGS];
    uint32_t n;
    struct dh_meetings_latest { /* access, by granules of eight bytes */
        uint64_t granule;
        uint32_t task, site, step;
        bool writes, is_known;
    } latest[DH_MEETINGS_LATEST];
};

void dh_meetings_begin(struct dh_meetings *m);
/* A step at a visible place. */
void dh_meetings_note(struct dh_meetings *m, uint32_t step, uint32_t task, const struct dh_step *s);

#endif
