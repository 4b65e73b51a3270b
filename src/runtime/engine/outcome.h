/* How a schedule came to its end: exit status and what was written to standard output and error, told by sums over
 * their lines, so that threads may print in any order. Layer: runtime. With COLLECT the control region learns outcomes,
 * with JUDGE one that it does not have is an end of its own. */
#ifndef DH_RUNTIME_ENGINE_OUTCOME_H
#define DH_RUNTIME_ENGINE_OUTCOME_H

#include "runtime/engine/engine.h"

bool dh_outcome_init(void);
void dh_outcome_begin(void);
/* A system call of the current task. */
void dh_outcome_call(long number, const long a[6]);
/* The program is about to exit: what libc still holds back is written. */
void dh_outcome_flush(void);
/* The schedule is over. */
void dh_outcome_end(void);
/* The present one. */
struct dh_engine_outcome dh_outcome_now(void);

#endif
