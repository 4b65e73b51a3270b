/* Stalls: some tasks wait for what nobody will do, and all others only time out, again and again. Layer: runtime. To
 * the program it looks alive, since a timed wait or a sleep hides the deadlock or lost wakeup. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_STALL_H
#define DH_RUNTIME_ENGINE_CHECKS_STALL_H

#include "runtime/engine/engine.h"

void dh_stall_begin(void);
/* Before the step is executed. True: the schedule is stalled. */
bool dh_stall_step(struct dh_engine *e, struct dh_choice c);
/* It waits, and not for time. */
bool dh_stall_is_stuck(struct dh_engine *e, uint32_t task);

#endif
