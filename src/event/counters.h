/* Counters of a program built for measuring (plan words count-events and count-checks): DH_COUNTER_ROWS rows, each for
 * some of the threads, against contention; in a row the counters of counters.def, then one for each site. Layer: event.
 * The instrumented program holds them, the runtime writes them to a file at the end. */
#ifndef DH_EVENT_COUNTERS_H
#define DH_EVENT_COUNTERS_H

#include <stdint.h>

enum dh_counter {
#define DH_COUNTER(id, name) DH_COUNTER_##id,
#include "event/counters.def"
#undef DH_COUNTER
    DH_COUNTER_COUNT
};

enum { DH_COUNTER_ROWS = 16 /* a power of two */ };

/* A row, in counters: whole cache lines. */
static inline uint32_t dh_counter_row_size(uint32_t n_sites)
{
    return (DH_COUNTER_COUNT + n_sites + 7) & ~7u;
}

#endif
