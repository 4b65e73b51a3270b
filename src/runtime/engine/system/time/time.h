/* Virtual time, which the program sees and which passes only when nothing else can happen; and real clocks for budgets.
 * Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_TIME_TIME_H
#define DH_RUNTIME_ENGINE_SYSTEM_TIME_TIME_H

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
/* So far ahead that nothing ends by time as long as anything else can happen. */
#define DH_FAR_NS (60 * 1000000000ull)
/* When the parked task goes on by itself: its sleep, its wait or what it waits for ends; UINT64_MAX: it does not. */
uint64_t dh_virtual_time_wakes(const struct dh_task *t);
/* Does time end the step, if nothing else does? */
bool dh_virtual_time_ends(const struct dh_step *s);
/* Is this alternative of the task's step the end of its time? */
bool dh_virtual_time_is_end(const struct dh_task *t, uint32_t alternative);
/* Does only time make the task go on? */
bool dh_virtual_time_is_awaited(const struct dh_engine *e, uint32_t task);
/* Of these alternatives of the task those that virtual time allows now. */
uint32_t dh_virtual_time_allows(const struct dh_task *t, uint32_t alternatives);
/* Where time passes as it would natively: tasks wait for their time while others can go on, and the first to be awake
 * goes on first. */
void dh_virtual_time_keep_order(struct dh_engine *e);
/* How long a step takes after so many others. */
uint64_t dh_virtual_time_of_step(uint32_t depth);
/* At a decision. */
void dh_virtual_time_wake_starved(struct dh_engine *e);
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
