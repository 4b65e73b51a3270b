/* Counters of a program that was built to count (plan words count-events and count-checks): rows of DH_TALLY_ROWS, one
 * for some of the threads each, so that threads seldom meet; in a row the counters of tally.def, then one for each
 * site. Layer: event. The instrumented program holds them, the runtime writes them to a file at the end. */
#ifndef DH_EVENT_TALLY_H
#define DH_EVENT_TALLY_H

#include <stdint.h>

enum dh_tally {
#define DH_TALLY(id, name) DH_TALLY_##id,
#include "event/tally.def"
#undef DH_TALLY
    DH_TALLY_COUNT
};

enum { DH_TALLY_ROWS = 16 /* a power of two */ };

/* A row, in counters: whole cache lines. */
static inline uint32_t dh_tally_row(uint32_t n_sites)
{
    return (DH_TALLY_COUNT + n_sites + 7) & ~7u;
}

#endif
