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

bool dh_u64_set_remove(struct dh_u64_set *s, uint64_t key)
{
    uint32_t i = dh_u64_set_seek(s, key);
    if (i == DH_ABSENT)
        return false;
    uint64_t last = s->at[--s->n];
    dh_index_remove(&s->index, dh_hash_u64(key), i);
    if (i != s->n)
        dh_index_renumber(&s->index, dh_hash_u64(last), s->n, i);
    s->at[i] = last;
    return true;
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

bool dh_bitset_intersect(struct dh_bitset *to, const struct dh_bitset *from)
{
    uint64_t changed = 0;
    for (size_t i = 0; i < to->n; i++) {
        changed |= to->at[i] & ~word_of(from, i);
        to->at[i] &= word_of(from, i);
    }
    return changed;
}

bool dh_bitset_subtract(struct dh_bitset *to, const struct dh_bitset *from)
{
    uint64_t changed = 0;
    for (size_t i = 0; i < to->n && i < from->n; i++) {
        changed |= to->at[i] & from->at[i];
        to->at[i] &= ~from->at[i];
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

bool dh_bitset_meets(const struct dh_bitset *a, const struct dh_bitset *b)
{
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (a->at[i] & b->at[i])
            return true;
    return false;
}

bool dh_bitset_equals(const struct dh_bitset *a, const struct dh_bitset *b)
{
    return dh_bitset_contains(a, b) && dh_bitset_contains(b, a);
}

bool dh_bitset_is_empty(const struct dh_bitset *s)
{
    return !width(s);
}

size_t dh_bitset_count(const struct dh_bitset *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += (unsigned)__builtin_popcountll(s->at[i]);
    return n;
}

void dh_bitset_copy(struct dh_bitset *to, const struct dh_bitset *from)
{
    dh_bitset_clear(to);
    dh_bitset_unite(to, from);
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
