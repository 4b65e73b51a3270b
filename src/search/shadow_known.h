/* The quick question before any check of an access: has the thread made the same or a stronger one since it last
 * released anything, and nobody else one in between? Then its answer is the same. Layer: search, part of
 * schedule_races.h; inlined into the hooks of the engine. */
#ifndef DH_SEARCH_SHADOW_KNOWN_H
#define DH_SEARCH_SHADOW_KNOWN_H

#include "base/hash.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DH_SHADOW_BLOCK = 64, /* granules */
    DH_SHADOW_BLOCK_SHIFT = 6,
    DH_SHADOW_GRANULE_SHIFT = 3,
    DH_SHADOW_GENERATION_BITS = 16,
    /* A cell: bytes that may be read, and written, as they are known; what else there is; thread and clock. */
    DH_SHADOW_WRITES_SHIFT = 8,
    DH_SHADOW_SEVERAL = 1 << 16, /* accesses are in a granule of the pool */
    DH_SHADOW_WATCHED = 1 << 17, /* every access is checked */
    DH_SHADOW_SELF_SHIFT = 18,
    DH_SHADOW_THREAD_BITS = 14,
};

struct dh_shadow_block {
    uint64_t cell[DH_SHADOW_BLOCK];
    uint32_t site[DH_SHADOW_BLOCK]; /* of the access; SEVERAL: index of the granule */
};

struct dh_shadow_entry {
    uint64_t tag; /* number of the block, generation that it was used in; 0: free */
    struct dh_shadow_block *block;
};

struct dh_shadow_known {
    uint64_t self; /* thread and clock; 0: not known, everything is checked */
    struct dh_shadow_entry *entry;
    uint32_t room;
    uint16_t generation;
};

static inline uint64_t dh_shadow_self(uint32_t thread, uint32_t clock)
{
    return (uint64_t)clock << DH_SHADOW_THREAD_BITS | thread;
}

static inline uint64_t dh_shadow_tag(uint64_t number, uint16_t generation)
{
    return number << DH_SHADOW_GENERATION_BITS | generation;
}

static inline uint32_t dh_shadow_home(const struct dh_shadow_known *k, uint64_t number)
{
    return (uint32_t)(dh_hash_multiply(number) >> 32) & (k->room - 1);
}

static inline bool dh_shadow_covers(uint64_t cell, uint64_t self, unsigned want)
{
    return cell >> DH_SHADOW_SELF_SHIFT == self && !(want & ~cell);
}

/* One granule. */
static inline bool dh_shadow_knows_granule(const struct dh_shadow_known *k, uint64_t granule, unsigned mask,
                                           bool writes)
{
    uint64_t number = granule >> DH_SHADOW_BLOCK_SHIFT;
    const struct dh_shadow_entry *e = &k->entry[dh_shadow_home(k, number)];
    return e->tag == dh_shadow_tag(number, k->generation) &&
           dh_shadow_covers(e->block->cell[granule % DH_SHADOW_BLOCK], k->self,
                            writes ? mask << DH_SHADOW_WRITES_SHIFT : mask);
}

/* Of up to eight bytes; false also where that takes longer to find out. */
static inline bool dh_shadow_knows(const struct dh_shadow_known *k, uint64_t address, uint64_t size, bool writes)
{
    unsigned from = address & 7;
    return from + size <= 8 &&
           dh_shadow_knows_granule(k, address >> DH_SHADOW_GRANULE_SHIFT, ((1u << size) - 1) << from, writes);
}

#endif
