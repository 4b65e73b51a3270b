/* What the program counted of itself (event/counters.h), written at its end. Layer: runtime. */
#ifndef DH_RUNTIME_RECORD_TALLY_H
#define DH_RUNTIME_RECORD_TALLY_H

#include <stdint.h>

/* Defined by a program that counts; weak defaults in tally_defaults.c: a row of nothing. */
extern const uint32_t __dh_tally_row;
extern uint64_t __dh_tally_counters[];

#endif
