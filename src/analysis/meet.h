/* Whether two events may happen at the same time, as far as starts and joins of threads tell. Layer: analysis. */
#ifndef DH_ANALYSIS_MEET_H
#define DH_ANALYSIS_MEET_H

#include "analysis/walk.h"

bool dh_events_meet(const struct dh_walk *w, const struct dh_event *a, const struct dh_event *b);

#endif
