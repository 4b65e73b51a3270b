/* Hashes for tables within one process: never written to a file, never shown, so they may change (those that must not:
 * base/random.h). Layer: base. No libc,
 * no memory: the runtime's tables use them, too. The highest bits of a result are the best: hash >> (64 - BITS). */
#ifndef DH_BASE_HASH_H
#define DH_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A bijection: distinct numbers stay distinct. One multiplication would do for random keys, but rows of addresses and
 * pairs of numbers fall together by its highest bits, now and then by half. */
static inline uint64_t dh_hash_u64(uint64_t x)
{
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    return (x ^ x >> 32) * 0xd6e8feb86659fd93u;
}

/* One multiplication, for the hottest paths: the result's highest bits depend on all of x. */
static inline uint64_t dh_hash_multiply(uint64_t x)
{
    return x * 0x9e3779b97f4a7c15u;
}

/* A running hash of words, with one multiplication a word. The order counts. */
static inline uint64_t dh_hash_fold(uint64_t h, uint64_t value)
{
    h = dh_hash_multiply(h ^ value);
    return h ^ h >> 29;
}

/* What comes after `h`, which is a hash or a number to begin with. The order counts. */
static inline uint64_t dh_hash_combine(uint64_t h, uint64_t value)
{
    return dh_hash_u64(dh_hash_multiply(h + 1) + value);
}

static inline uint64_t dh_hash_bytes(const void *bytes, size_t n)
{
    const unsigned char *at = (const unsigned char *)bytes; /* also in C++ */
    uint64_t h = n;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t word;
        __builtin_memcpy(&word, at, 8);
        h = dh_hash_combine(h, word);
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < n; i++)
        rest |= (uint64_t)at[i] << 8 * i;
    return dh_hash_combine(h, rest);
}

static inline uint64_t dh_hash_string(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return dh_hash_bytes(text, n);
}

#endif
