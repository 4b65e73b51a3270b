/* The watchdog: ends a schedule whose task runs too long without a visible operation, as a hang. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_WATCHDOG_H
#define DH_RUNTIME_ENGINE_CHECKS_WATCHDOG_H

#include "runtime/engine/engine.h"

/* For coroutines: starts a timer. */
void dh_watchdog_begin(void);
/* Nanoseconds that a task may run without a visible operation; time waiting for a processor does not count. */
uint64_t dh_watchdog_limit_ns(void);

/* For serial threads, whom another thread watches: at which step the thread whose turn it is was last seen. Begins with
 * a depth that is none. */
struct dh_patience {
    uint32_t depth, tid;
    uint64_t since_ns, waited_ns;
};
/* To be asked again and again; false: the thread is at that step for too long. */
bool dh_watchdog_is_patient(struct dh_patience *p);

#endif
