/* Priorities, policies and processors of threads: the schedule is the engine's, so that setting them has no effect.
 * Layer: runtime. Handlers of syscalls.def. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SCHEDULING_H
#define DH_RUNTIME_ENGINE_SYSTEM_SCHEDULING_H

/* Asks about a thread, by the first argument or by the second: the kernel answers for the one that asks. */
long dh_scheduling_get(long number, const long a[6]);
long dh_scheduling_get_priority(long number, const long a[6]);
/* As an ordinary user may not set policies of real time, nobody but root may here. */
long dh_scheduling_set_policy(long number, const long a[6]);

#endif
