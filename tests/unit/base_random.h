/* Numbers by chance for the tests of base: the same on every run. */
#ifndef DH_TESTS_BASE_RANDOM_H
#define DH_TESTS_BASE_RANDOM_H

#include <stdint.h>

static inline uint32_t base_random(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

#endif
