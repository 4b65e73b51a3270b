/* How schedules end. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SCHEDULE_ENDS_H
#define DH_RUNTIME_ENGINE_SCHEDULE_ENDS_H

#include "runtime/engine/engine.h"

bool dh_schedule_ends_init(void);
void dh_schedule_ends_begin(void);
/* Nobody can go on: sets the end. */
void dh_schedule_ends_blocked(void);
/* Keeps the end if it is one that is looked for. */
void dh_schedule_ends_record(void);
/* A signal that nobody waited for. */
void dh_schedule_ends_lost_signal(const void *condition);

#endif
