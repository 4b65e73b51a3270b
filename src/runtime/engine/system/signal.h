/* Signals: write faults of the snapshot, dispatched system calls, fatal signals as ends of schedules, and delivery of
 * the program's own between steps. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SIGNAL_H
#define DH_RUNTIME_ENGINE_SYSTEM_SIGNAL_H

#include "runtime/engine/engine.h"

/* Installs the handlers, and the alternate stack of the calling kernel thread. */
bool dh_signals_begin(void);
/* The signal mask of the snapshot. */
void dh_signals_restore_mask(void);
/* Delivers the pending signals of the calling task that its mask does not block. */
void dh_signals_deliver(struct dh_task *t);
/* A signal to the calling task, delivered at once unless it is blocked. */
void dh_signals_raise(struct dh_task *t, int signal);
/* rt_sigprocmask of the current task: the kernel has one mask for all coroutines, and the return from the SIGSYS
 * handler would reset it. */
long dh_signals_mask(long number, const long a[6]);
/* rt_sigaction; kill, tkill, tgkill. */
long dh_signals_action(long number, const long a[6]);
long dh_signals_kill(long number, const long a[6]);

#endif
