/* Looks from outside whether anything happens at all. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_WATCHDOG_H
#define DH_RUNTIME_ENGINE_WATCHDOG_H

#include "runtime/engine/engine.h"

/* For coroutines: a timer of the kernel's own. */
void dh_watchdog_begin(void);
/* Nanoseconds that a task may run, or wait for the kernel, without coming to anything visible. What it waited for a
 * processor does not count: a busy machine makes nobody hang. */
uint64_t dh_watchdog_patience(void);
uint64_t dh_watchdog_waited(uint32_t thread);

#endif
