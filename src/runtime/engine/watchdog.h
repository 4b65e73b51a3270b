/* Looks from outside whether anything happens at all. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_WATCHDOG_H
#define DH_RUNTIME_ENGINE_WATCHDOG_H

#include "runtime/engine/engine.h"

/* For coroutines: a timer of the kernel's own. */
void dh_watchdog_begin(void);
/* Nanoseconds that a task may run without coming to anything visible. */
uint64_t dh_watchdog_patience(void);

#endif
