/* Pseudo-random generator of strategies, reproducible from a seed. Layer: search. No floating point, which the runtime
 * must not touch. Not thread-safe. */
#ifndef DH_SEARCH_RNG_H
#define DH_SEARCH_RNG_H

#include <stdint.h>

struct dh_rng {
    uint64_t state;
};

/* splitmix64: any seed is good, also neighbours. */
static inline uint64_t dh_rng_next(struct dh_rng *c)
{
    uint64_t z = c->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 .. n-1; n > 0 */
static inline uint32_t dh_rng_below(struct dh_rng *c, uint32_t n)
{
    return (uint32_t)((dh_rng_next(c) >> 32) * n >> 32);
}

#endif
