/* The order of steps when nobody disturbs the threads: each goes on until it waits, gives way, or has had its quantum;
 * then it is the next one's turn, by index. Shortly before its end, when all have had their turn, they take turns step
 * by step, so that none is ahead. Layer: runtime. The same in every run of the program: a number of steps says where a
 * schedule begins. */
#ifndef DH_RUNTIME_ENGINE_SCHEDULE_UNDISTURBED_H
#define DH_RUNTIME_ENGINE_SCHEDULE_UNDISTURBED_H

#include "runtime/engine/engine.h"

enum { DH_UNDISTURBED_QUANTUM = 64 };

/* Before a step is counted: is it the first of an even stretch? */
void dh_undisturbed_step(struct dh_engine *e, uint32_t task);
/* When actors are up to date. */
struct dh_choice dh_undisturbed_choose(const struct dh_engine *e);
/* Would the task be chosen again, that just parked? */
bool dh_undisturbed_goes_on(const struct dh_engine *e, const struct dh_task *t);
/* The entry of the trace for the undisturbed beginning of the present schedule. */
struct dh_engine_decision dh_undisturbed_entry(const struct dh_engine *e);
/* If the job's prefix begins so: takes it over, and answers how many of the prefix's decisions that are, 1 or 0. */
uint32_t dh_undisturbed_of_prefix(struct dh_engine *e);

#endif
