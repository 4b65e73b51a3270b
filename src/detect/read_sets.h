/* Sets of concurrent readers, each stored once. Layer: detect. A set is a mask and at most one epoch per slot; many
 * granules share one set, so that read-shared arrays cost no memory of their own. Index 0 is no set. A set lives as
 * long as references are held. The owner orders access to a table (one lock in the runtime): every function here, and
 * every look into a set, happens under it. Storage comes from the allocator given. */
#ifndef DH_DETECT_READ_SETS_H
#define DH_DETECT_READ_SETS_H

#include "detect/clock.h"

#include <stddef.h>

struct dh_read_set {
    uint32_t next; /* in its hash chain, or among the free ones of its size */
    uint32_t hash;
    uint32_t references;
    uint16_t mask, n;
    uint32_t reader[]; /* slot and clock, sorted by slot */
};

struct dh_read_sets {
    void *(*allocate)(size_t n); /* zeroed, never freed */
    struct dh_read_set **at;     /* by index */
    uint32_t *buckets;
    uint32_t free[DH_SLOTS + 1]; /* by number of readers */
    uint32_t n, cap, n_buckets;
};

void dh_read_sets_init(struct dh_read_sets *t, void *(*allocate)(size_t n), uint32_t cap);
static inline const struct dh_read_set *dh_read_set_at(const struct dh_read_sets *t, uint32_t index)
{
    return t->at[index];
}
/* Both answer a set with a reference for the caller, or 0 when the table is full. */
uint32_t dh_read_set_of(struct dh_read_sets *t, unsigned mask, uint32_t one, uint32_t other);
/* The set with `reader` added or, for its slot, replaced. Readers that `now` covers are left out: whoever conflicts
 * with them and not with the new reader would be ordered after it and thus after them. A set of one is answered as that
 * epoch with its mask in *single and 0. */
uint32_t dh_read_set_with(struct dh_read_sets *t, uint32_t index, uint32_t reader, const struct dh_clock *now,
                          uint32_t *single);
/* The same readers for other bytes. */
uint32_t dh_read_set_for(struct dh_read_sets *t, uint32_t index, unsigned mask);
void dh_read_set_release(struct dh_read_sets *t, uint32_t index);

#endif
