/* Signals the engine lives by: refused writes, dispatched system calls, and those that end a program. Layer: runtime.
 */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SIGNAL_H
#define DH_RUNTIME_ENGINE_SYSTEM_SIGNAL_H

#include "runtime/engine/engine.h"

/* For the calling kernel thread: its alternate stack; for the process: the handlers. */
bool dh_signals_begin(void);
/* After a schedule that a signal ended: the mask as it was at the snapshot. */
void dh_signals_restore_mask(void);
/* What was sent to the calling task and is not blocked by it. */
void dh_signals_deliver(struct dh_task *t);
/* Its own mask, as the system call has it. The kernel knows only one of all coroutines, and takes back what is set
 * where it dispatches a call to us. */
long dh_signals_mask(long how, const uint64_t *set, uint64_t *before);
/* Would a handler of the program's for this signal be in our way? */
bool dh_signals_is_reserved(int signal);

#endif
