/* Beginnings of schedules in which a race may be met, from a schedule of the program's own: src/search/prefix.h on what
 * the engine keeps of one. Layer: prove. */
#ifndef DH_PROVE_WITNESS_PREFIXES_H
#define DH_PROVE_WITNESS_PREFIXES_H

#include "event/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_witness_prefix {
    struct dh_engine_decision *decisions; /* owned; threads and alternatives are what counts */
    uint32_t n;
    uint32_t held; /* the thread of a1, parked there at the end */
    uint64_t frozen;
    uint32_t place1, place2; /* of a1, a2 */
    bool reaches;            /* a2 is pending, too: nothing is left to be searched for */
};

struct dh_witness_prefix_source {
    const struct dh_engine_decision *decisions;
    uint32_t n;
    const uint8_t *wanted; /* a byte per place: 1, 2 or both for accesses of which one shall meet one of the other */
    uint32_t places;
    uint32_t (*bytes_of)(void *arg, uint32_t place); /* that an access touches; 0: not known */
    void *arg;
};

/* At most `most`, latest a1 first; how many. Released by the caller. */
size_t dh_witness_prefixes_find(const struct dh_witness_prefix_source *of, struct dh_witness_prefix *out, size_t most);
void dh_witness_prefixes_release(struct dh_witness_prefix *b, size_t n);

#endif
