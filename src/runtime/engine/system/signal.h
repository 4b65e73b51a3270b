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
/* rt_sigprocmask of the current task: the kernel has one mask for all coroutines, and the return from the SIGSYS
 * handler would reset it. */
long dh_signals_mask(long how, const uint64_t *set, uint64_t *before);
/* Signals whose handlers the engine needs: the program cannot set them. */
bool dh_signals_is_reserved(int signal);

#endif
