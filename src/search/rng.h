/* Pseudo-random generator of strategies, reproducible from a seed. Layer: search. No floating point, which the runtime
 * must not touch. Not thread-safe. */
#ifndef DH_SEARCH_RNG_H
#define DH_SEARCH_RNG_H

#include "base/random.h"

struct dh_rng {
    uint64_t state;
};

static inline uint64_t dh_rng_next(struct dh_rng *c)
{
    return dh_splitmix_next(&c->state);
}

/* 0 .. n-1; n > 0 */
static inline uint32_t dh_rng_below(struct dh_rng *c, uint32_t n)
{
    return (uint32_t)((dh_rng_next(c) >> 32) * n >> 32);
}

#endif
