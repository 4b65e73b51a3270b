/* Minimising a schedule: one with fewer decisions and context switches, equivalent by dependence of its steps. Layer:
 * prove. A replay must confirm it, since threads may interfere by accesses that are no steps. */
#ifndef DH_PROVE_MINIMISE_H
#define DH_PROVE_MINIMISE_H

#include "event/engine.h"

#include <stdbool.h>
#include <stdint.h>

/* Number of context switches. */
uint32_t dh_schedule_switches(const struct dh_engine_decision *d, uint32_t n);

/* Leaves out decisions on which no party of the end depends, and lets each thread run for as long as dependence allows.
 * `bytes_of`: bytes that an access at a place touches at most; 0: unknown. Returns the new length, and in `out` (room
 * for n) the schedule. */
uint32_t dh_schedule_minimise(const struct dh_engine_decision *d, uint32_t n, const struct dh_engine_found *end,
                              uint32_t (*bytes_of)(void *arg, uint32_t place), void *arg,
                              struct dh_engine_decision *out);

#endif
