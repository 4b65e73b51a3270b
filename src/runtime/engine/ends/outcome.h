/* The outcome of a schedule: exit status, and sums over the lines of standard output and error, so that threads may
 * print in any order. Layer: runtime. With COLLECT outcomes are added to the control region, with JUDGE one that it
 * does not have is the end WRONG. */
#ifndef DH_RUNTIME_ENGINE_ENDS_OUTCOME_H
#define DH_RUNTIME_ENGINE_ENDS_OUTCOME_H

#include "runtime/engine/engine.h"

bool dh_outcome_init(void);
void dh_outcome_begin(void);
/* A system call of the current task. */
void dh_outcome_call(long number, const long a[6]);
/* The program is about to exit: flushes the buffers of stdio. */
void dh_outcome_flush(void);
/* The schedule is over. */
void dh_outcome_end(void);
/* Of the schedule so far. */
struct dh_engine_outcome dh_outcome_now(void);

#endif
