/* Virtual time, which the program sees and which passes only when nothing else can happen; and real clocks for budgets.
 * Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_TIME_H
#define DH_RUNTIME_ENGINE_SYSTEM_TIME_H

#include "runtime/engine/engine.h"

#include <time.h>

/* Real clocks. */
uint64_t dh_clock_monotonic_ns(void);
uint64_t dh_clock_process_cpu_ns(void);
/* At the start of the process: clocks are virtual from now on, with the same start in every run. */
void dh_virtual_time_start(void);
/* Every schedule begins at this time. */
void dh_virtual_time_at_snapshot(void);
/* A time of that clock as virtual time. */
uint64_t dh_virtual_time_of(clockid_t clock, const struct timespec *until);
/* To at least this time. */
void dh_virtual_time_advance(uint64_t until);
/* System calls that tell the time: clock_gettime, gettimeofday, time, getrusage. */
long dh_time_call_clock(long number, const long a[6]);
long dh_time_call_day(long number, const long a[6]);
long dh_time_call_time(long number, const long a[6]);
long dh_time_call_usage(long number, const long a[6]);
static inline bool dh_timespec_is_valid(const struct timespec *t)
{
    return t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

#endif
