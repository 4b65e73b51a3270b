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

/* Words that count. */
static size_t width(const struct dh_bitset *s)
{
    size_t n = s->n;
    while (n && !s->at[n - 1])
        n--;
    return n;
}

static uint64_t word_of(const struct dh_bitset *s, size_t i)
{
    return i < s->n ? s->at[i] : 0;
}

bool dh_bitset_unite(struct dh_bitset *to, const struct dh_bitset *from)
{
    uint64_t changed = 0;
    size_t n = width(from);
    dh_bitset_reserve(to, n * 64);
    for (size_t i = 0; i < n; i++) {
        changed |= from->at[i] & ~to->at[i];
        to->at[i] |= from->at[i];
    }
    return changed;
}

bool dh_bitset_contains(const struct dh_bitset *s, const struct dh_bitset *part)
{
    for (size_t i = 0; i < part->n; i++)
        if (part->at[i] & ~word_of(s, i))
            return false;
    return true;
}

void dh_bitset_clear(struct dh_bitset *s)
{
    if (s->n)
        memset(s->at, 0, s->n * sizeof *s->at);
}

void dh_bitset_release(struct dh_bitset *s)
{
    free(s->at);
    *s = (struct dh_bitset){0};
}
