#include "base/set.h"

#include "base/alloc.h"

#include <string.h>

/* ---- of numbers ---- */

void dh_u64_set_append(struct dh_u64_set *s, uint64_t key)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? (s->cap > UINT32_MAX / 2 ? UINT32_MAX : 2 * s->cap) : 8;
        s->at = dh_xrealloc(s->at, s->cap, sizeof *s->at);
    }
    dh_index_add(&s->index, dh_hash_u64(key), s->n);
    s->at[s->n++] = key;
}

void dh_u64_set_clear(struct dh_u64_set *s)
{
    dh_index_clear(&s->index);
    s->n = 0;
}

void dh_u64_set_release(struct dh_u64_set *s)
{
    dh_index_release(&s->index);
    free(s->at);
    *s = (struct dh_u64_set){0};
}

/* ---- of bits ---- */

void dh_bitset_reserve(struct dh_bitset *s, size_t bits)
{
    size_t n = bits / 64 + (bits % 64 != 0);
    if (n <= s->n)
        return;
    if (n < 2 * s->n)
        n = 2 * s->n;
    s->at = dh_xrealloc(s->at, n, sizeof *s->at);
    memset(s->at + s->n, 0, (n - s->n) * sizeof *s->at);
    s->n = n;
}

void dh_bitset_release(struct dh_bitset *s)
{
    free(s->at);
    *s = (struct dh_bitset){0};
}
