/* Timers of the program on virtual time: alarm, setitimer and POSIX timers. Layer: runtime. An armed timer may expire
 * at any decision: then time has come so far. Rolled back. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_TIME_TIMERS_H
#define DH_RUNTIME_ENGINE_SYSTEM_TIME_TIMERS_H

#include "runtime/engine/engine.h"

#include <signal.h>
#include <time.h>

bool dh_timers_init(void);
/* Those that the program set before its first thread. */
void dh_timers_begin(void);
bool dh_timers_are_armed(void);
/* Signals that timers could send to the task now. */
uint64_t dh_timers_signals(const struct dh_task *t);
/* Lets the first timer expire whose signal is in `set`, and all before it. */
void dh_timers_expire_one(const struct dh_task *t, uint64_t set);
/* Time has come to `now`. */
void dh_timers_advance(uint64_t now);
/* A handler that ran for a timer's signal returned. Or it ended the process: true if that is a watchdog's work, who was
 * woken only because a search lets timers expire before their time; an end of the search's making. One that ever
 * returned is no watchdog: that it ends the process is news. */
void dh_timers_handler_returned(int signal);
bool dh_timers_handler_ended(int signal);
/* At a decision, first: timers are in no hurry. Then, if nothing else can happen: true if one may now expire. */
void dh_timers_wait(void);
bool dh_timers_hurry(void);

/* For timer_threads.c: a timer whose function gets a thread of its own. */
int dh_timers_create_thread(clockid_t clock, uint32_t number);
bool dh_timers_thread_is_due(void);
/* Which of them expires; its number. */
uint32_t dh_timers_expire_thread(void);

/* System calls. */
long dh_timers_alarm(long number, const long a[6]);
long dh_timers_setitimer(long number, const long a[6]);
long dh_timers_getitimer(long number, const long a[6]);
long dh_timers_create(long number, const long a[6]);
long dh_timers_settime(long number, const long a[6]);
long dh_timers_gettime(long number, const long a[6]);
long dh_timers_getoverrun(long number, const long a[6]);
long dh_timers_delete(long number, const long a[6]);

#endif
