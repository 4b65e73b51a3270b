/* Numbers that are the same in every run of a job, and on every machine: generators with a seed, and hashes that are
 * stored, shown or compared between processes. Layer: base. None of them may change: witnesses, caches and seeds that
 * users have depend on them. For tables within one process: base/hash.h. No libc. */
#ifndef DH_BASE_RANDOM_H
#define DH_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* What splitmix64 makes of its counter: a bijection. */
static inline uint64_t dh_splitmix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

#define DH_SPLITMIX_STEP 0x9e3779b97f4a7c15u

/* The next number of splitmix64: any seed is good, also neighbours. */
static inline uint64_t dh_splitmix_next(uint64_t *state)
{
    return dh_splitmix(*state += DH_SPLITMIX_STEP);
}

/* A byte of a linear congruential generator (Knuth's MMIX). */
static inline unsigned char dh_random_byte(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(*state >> 56);
}

/* FNV-1a: h is DH_FNV_BASIS, or the hash of what precedes the bytes. */
#define DH_FNV_BASIS 0xcbf29ce484222325u
#define DH_FNV_PRIME 0x100000001b3u
static inline uint64_t dh_fnv(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *b = bytes; n; b++, n--)
        h = (h ^ *b) * DH_FNV_PRIME;
    return h;
}

#endif
