/* Witness prefixes (002 §3.1): prefixes of schedules after which one access of a suspected race is pending, from a
 * recorded schedule. Layer: prove, over search/prefix.h. */
#ifndef DH_PROVE_WITNESS_PREFIXES_H
#define DH_PROVE_WITNESS_PREFIXES_H

#include "event/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_witness_prefix {
    struct dh_engine_decision *decisions; /* owned; only threads and alternatives are set */
    uint32_t n;
    uint32_t held;           /* the thread of the first access, which is pending after the prefix */
    uint64_t frozen;         /* threads on which the second access does not depend, a bit each */
    uint32_t place1, place2; /* of the two accesses */
    bool reaches;            /* the second is pending, too: no search is needed */
};

struct dh_witness_prefix_source {
    const struct dh_engine_decision *decisions;
    uint32_t n;
    const uint8_t *wanted; /* a byte per place: bit 0 for the first, bit 1 for the second access of the race */
    uint32_t places;
    uint32_t (*bytes_of)(void *arg, uint32_t place); /* that an access touches; 0: unknown */
    void *arg;
};

/* At most `most`, latest access first; returns how many. Released by the caller. */
size_t dh_witness_prefixes_find(const struct dh_witness_prefix_source *of, struct dh_witness_prefix *out, size_t most);
void dh_witness_prefixes_release(struct dh_witness_prefix *b, size_t n);

#endif
