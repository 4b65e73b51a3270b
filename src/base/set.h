/* Sets: of 64-bit numbers or pointers (any), and of small numbers as bits. Layer: base. The first is walked in the
 * order of insertion (removal: see map.h), the second from the least. The owner of the struct owns the storage;
 * zero-initialise, release in the end. Aborts when memory is gone: hosted code only. Not thread-safe. */
#ifndef DH_BASE_SET_H
#define DH_BASE_SET_H

#include "base/map.h"

/* ---- of numbers ---- */

struct dh_u64_set {
    uint64_t *at; /* n of them, to walk */
    uint32_t n, cap;
    struct dh_index index;
};

/* The number's place in the order of insertion, or DH_ABSENT. */
static inline uint32_t dh_u64_set_seek(const struct dh_u64_set *s, uint64_t key)
{
    struct dh_probe p = dh_index_probe(&s->index, dh_hash_u64(key));
    uint32_t i;
    while ((i = dh_index_next(&s->index, &p)) != DH_ABSENT && s->at[i] != key)
        ;
    return i;
}

static inline bool dh_u64_set_has(const struct dh_u64_set *s, uint64_t key)
{
    return dh_u64_set_seek(s, key) != DH_ABSENT;
}

/* `key` must be absent. */
void dh_u64_set_append(struct dh_u64_set *s, uint64_t key);

/* True when new. */
static inline bool dh_u64_set_add(struct dh_u64_set *s, uint64_t key)
{
    if (dh_u64_set_has(s, key))
        return false;
    dh_u64_set_append(s, key);
    return true;
}

void dh_u64_set_clear(struct dh_u64_set *s);
void dh_u64_set_release(struct dh_u64_set *s);

static inline bool dh_u64_set_has_pointer(const struct dh_u64_set *s, const void *p)
{
    return dh_u64_set_has(s, (uintptr_t)p);
}

static inline bool dh_u64_set_add_pointer(struct dh_u64_set *s, const void *p)
{
    return dh_u64_set_add(s, (uintptr_t)p);
}

/* Two numbers as one key; sort them first where a pair has no order. */
static inline uint64_t dh_pair_key(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* ---- of bits ---- */

/* Words at or above `n` are 0. */
struct dh_bitset {
    uint64_t *at;
    size_t n;
};

static inline bool dh_bitset_has(const struct dh_bitset *s, size_t bit)
{
    return bit / 64 < s->n && s->at[bit / 64] >> bit % 64 & 1;
}

/* Room for bits below `bits`, so that adding them needs no memory. */
void dh_bitset_reserve(struct dh_bitset *s, size_t bits);

/* True when new. */
static inline bool dh_bitset_add(struct dh_bitset *s, size_t bit)
{
    if (bit / 64 >= s->n)
        dh_bitset_reserve(s, bit + 1);
    uint64_t *word = &s->at[bit / 64], one = (uint64_t)1 << bit % 64;
    bool fresh = !(*word & one);
    *word |= one;
    return fresh;
}

void dh_bitset_release(struct dh_bitset *s);

#endif
