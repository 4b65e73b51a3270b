/* Pairs of places that were told of: the same pair again is no news. Layer: detect. Not thread-safe. */
#ifndef DH_DETECT_REPORTED_PAIRS_H
#define DH_DETECT_REPORTED_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_reported_pairs {
    uint64_t *names; /* open addressing, 0: free */
    size_t n, cap;
};

/* What a side of a pair is: a place and what it does. */
struct dh_reported_access {
    uint32_t site;
    uint8_t op;
};

void dh_reported_pairs_release(struct dh_reported_pairs *p);
/* Is it seen for the first time? `where` tells pairs apart of which a place is not known. */
bool dh_reported_pairs_add(struct dh_reported_pairs *p, struct dh_reported_access a, struct dh_reported_access b,
                           uint64_t where);

#endif
