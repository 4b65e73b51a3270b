/* From one schedule of a program to beginnings of others in which a race may be met: §3.1 of Shacham, Sagiv and
 * Schuster. Layer: prove. For every pair of conflicting accesses a1, a2 under no common lock, latest a1 first: what
 * came before a1, then, with the thread of a1 held there, all that does not depend on what it would have done (their
 * Fig. 8; line 12 is read as m equal to the location of a1). Unlike theirs it also knows joins, conditions, semaphores,
 * barriers, atomics, frees and I/O, and it looks behind the warning for the second access, too (Fig. 7). */
#ifndef DH_PROVE_PREFIX_H
#define DH_PROVE_PREFIX_H

#include "event/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_prefix {
    struct dh_engine_decision *decisions; /* owned */
    uint32_t n;
    uint32_t held;           /* the thread of a1, parked there at the end */
    uint32_t place1, place2; /* of a1, a2 */
    bool reaches;            /* a2 is pending, too: nothing is left to be searched for */
};

struct dh_prefix_from {
    const struct dh_engine_decision *decisions;
    uint32_t n;
    const uint8_t *wanted; /* a byte per place: accesses that may be a1, a2 */
    uint32_t places;
    uint32_t (*bytes_of)(void *arg, uint32_t place); /* that an access touches; 0: not known */
    void *arg;
};

/* At most `most`; how many. `guarded` counts pairs that a common lock keeps apart. Released by the caller. */
size_t dh_prefixes(const struct dh_prefix_from *from, struct dh_prefix *out, size_t most, uint32_t *guarded);
void dh_prefixes_release(struct dh_prefix *p, size_t n);

#endif
