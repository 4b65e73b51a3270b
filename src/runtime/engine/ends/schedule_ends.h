/* How schedules end: deadlock and lost wakeup, exit, and what is recorded of them. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_ENDS_SCHEDULE_ENDS_H
#define DH_RUNTIME_ENGINE_ENDS_SCHEDULE_ENDS_H

#include "runtime/engine/engine.h"

bool dh_schedule_ends_init(void);
void dh_schedule_ends_begin(void);
/* No actor is enabled: sets the end. */
void dh_schedule_ends_blocked(void);
/* Tasks are stuck, and the others only time out (stall.h): sets the end. */
void dh_schedule_ends_stalled(void);
/* The end of its wait may come from another process, or from the kernel. */
bool dh_schedule_ends_waits_for_outside(uint32_t task);
/* Before that: no end by the program's own watchdog, if a search let its time pass. */
void dh_schedule_ends_leave_out_watchdog(void);
/* It waits for a signal that another process may send, and so it did in schedules in which the program ended well: it
 * does not need that signal. */
bool dh_schedule_ends_is_helper(uint32_t task);
/* Records the end if the job looks for it. */
void dh_schedule_ends_record(void);
/* A signal or broadcast while no task waited. */
void dh_schedule_ends_lost_signal(const void *condition);

#endif
