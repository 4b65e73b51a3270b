/* The watchdog: ends a schedule whose task runs too long without a visible operation, as a hang. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_WATCHDOG_H
#define DH_RUNTIME_ENGINE_CHECKS_WATCHDOG_H

#include "runtime/engine/engine.h"

/* For coroutines: starts a timer. */
void dh_watchdog_begin(void);
/* Nanoseconds that a task may run without a visible operation; time waiting for a processor does not count. */
uint64_t dh_watchdog_limit_ns(void);
/* Nanoseconds that the kernel thread waited for a processor so far. */
uint64_t dh_watchdog_processor_wait_ns(uint32_t thread);

#endif
