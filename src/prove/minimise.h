/* A schedule with fewer context switches that leads to the same end. Layer: prove. What is answered holds if the
 * program's threads meet only where decisions say so; that it does is for a replay to show. */
#ifndef DH_PROVE_MINIMISE_H
#define DH_PROVE_MINIMISE_H

#include "event/engine.h"

#include <stdbool.h>
#include <stdint.h>

/* How often another thread goes on. */
uint32_t dh_schedule_switches(const struct dh_engine_decision *d, uint32_t n);

/* Leaves out what neither party waits for or depends on, and lets each thread go on for as long as the others allow.
 * `bytes_of` tells how many bytes an access of a place touches at most; 0: not known. Answers the new length, and in
 * `out` (room for n) the schedule. */
uint32_t dh_schedule_minimise(const struct dh_engine_decision *d, uint32_t n, const struct dh_engine_found *end,
                              uint32_t (*bytes_of)(void *arg, uint32_t place), void *arg,
                              struct dh_engine_decision *out);

#endif
