/* Pairs of accesses that were reported, by place and operation: the same pair again is no news. Layer: detect. Not
 * thread-safe. */
#ifndef DH_DETECT_REPORTED_PAIRS_H
#define DH_DETECT_REPORTED_PAIRS_H

#include "base/set.h"

#include <stdbool.h>
#include <stdint.h>

struct dh_reported_pairs {
    struct dh_u64_set keys; /* zero-initialise */
};

/* One side of a pair. */
struct dh_reported_access {
    uint32_t site;
    uint8_t op;
};

void dh_reported_pairs_release(struct dh_reported_pairs *p);
/* True: it is new. `where` distinguishes pairs of which a place is not known. */
bool dh_reported_pairs_add(struct dh_reported_pairs *p, struct dh_reported_access a, struct dh_reported_access b,
                           uint64_t where);
bool dh_reported_pairs_has(const struct dh_reported_pairs *p, struct dh_reported_access a, struct dh_reported_access b,
                           uint64_t where);

#endif
