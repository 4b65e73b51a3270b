/* Time: the real one for budgets, the virtual one that the program sees. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_TIME_H
#define DH_RUNTIME_ENGINE_SYSTEM_TIME_H

#include "runtime/engine/engine.h"

#include <time.h>

/* Monotonic, of the machine, in nanoseconds. */
uint64_t dh_clock_monotonic_ns(void);
/* That the process took. */
uint64_t dh_clock_process_cpu_ns(void);
/* At the start of the process: from now on clocks are virtual, and begin with the same times in every run. */
void dh_virtual_time_start(void);
/* At the snapshot: every schedule begins here. */
void dh_virtual_time_at_snapshot(void);
/* When the given time of that clock is, as virtual time. */
uint64_t dh_virtual_time_of(clockid_t clock, const struct timespec *until);
/* It is at least so late now. */
void dh_virtual_time_advance(uint64_t until);
static inline bool dh_timespec_is_valid(const struct timespec *t)
{
    return t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

#endif
