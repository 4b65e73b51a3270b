#include "detect/read_sets.h"

static uint32_t hash_of(unsigned mask, const uint32_t *reader, unsigned n)
{
    uint32_t h = 2166136261u ^ mask;
    for (unsigned i = 0; i < n; i++)
        h = (h ^ reader[i]) * 16777619u;
    return h ^ h >> 15;
}

void dh_read_sets_init(struct dh_read_sets *t, void *(*allocate)(size_t n), uint32_t cap)
{
    *t = (struct dh_read_sets){.allocate = allocate, .cap = cap, .n = 1, .n_buckets = 1};
    while (t->n_buckets < cap)
        t->n_buckets *= 2;
    t->at = allocate(cap * sizeof *t->at);
    t->buckets = allocate(t->n_buckets * sizeof *t->buckets);
}

static bool equal(const struct dh_read_set *s, unsigned mask, const uint32_t *reader, unsigned n)
{
    if (s->mask != mask || s->n != n)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (s->reader[i] != reader[i])
            return false;
    return true;
}

/* A free set of that size, or a new one; 0 when there is no room. */
static uint32_t take(struct dh_read_sets *t, unsigned n)
{
    uint32_t index = t->free[n];
    if (index) {
        t->free[n] = t->at[index]->next;
        return index;
    }
    struct dh_read_set *s = t->n < t->cap ? t->allocate(sizeof *s + n * sizeof *s->reader) : NULL;
    if (!s)
        return 0;
    t->at[t->n] = s;
    return t->n++;
}

static uint32_t intern(struct dh_read_sets *t, unsigned mask, const uint32_t *reader, unsigned n)
{
    uint32_t hash = hash_of(mask, reader, n), *bucket = &t->buckets[hash & (t->n_buckets - 1)];
    for (uint32_t i = *bucket; i; i = t->at[i]->next)
        if (t->at[i]->hash == hash && equal(t->at[i], mask, reader, n)) {
            t->at[i]->references++;
            return i;
        }
    uint32_t index = take(t, n);
    if (!index)
        return 0;
    struct dh_read_set *s = t->at[index];
    s->next = *bucket;
    s->hash = hash;
    s->references = 1;
    s->mask = (uint16_t)mask;
    s->n = (uint16_t)n;
    for (unsigned i = 0; i < n; i++)
        s->reader[i] = reader[i];
    *bucket = index;
    return index;
}

void dh_read_set_release(struct dh_read_sets *t, uint32_t index)
{
    struct dh_read_set *s = t->at[index];
    if (--s->references)
        return;
    uint32_t *link = &t->buckets[s->hash & (t->n_buckets - 1)];
    while (*link != index)
        link = &t->at[*link]->next;
    *link = s->next;
    s->next = t->free[s->n];
    t->free[s->n] = index;
}

uint32_t dh_read_set_for(struct dh_read_sets *t, uint32_t index, unsigned mask)
{
    return intern(t, mask, t->at[index]->reader, t->at[index]->n);
}

uint32_t dh_read_set_of(struct dh_read_sets *t, unsigned mask, uint32_t one, uint32_t other)
{
    one &= DH_EPOCH_TIME;
    other &= DH_EPOCH_TIME;
    uint32_t reader[2] = {one < other ? one : other, one < other ? other : one};
    return intern(t, mask, reader, 2);
}

uint32_t dh_read_set_with(struct dh_read_sets *t, uint32_t index, uint32_t reader, const struct dh_clock *now,
                          uint32_t *single)
{
    const struct dh_read_set *s = t->at[index];
    uint32_t with[DH_SLOTS];
    unsigned n = 0;
    bool placed = false;
    reader &= DH_EPOCH_TIME;
    for (unsigned i = 0; i < s->n; i++) {
        uint32_t old = s->reader[i];
        if (dh_epoch_slot(old) == dh_epoch_slot(reader) || dh_clock_covers(now, old))
            continue;
        if (!placed && old > reader) {
            with[n++] = reader;
            placed = true;
        }
        with[n++] = old;
    }
    if (!placed)
        with[n++] = reader;
    *single = n == 1 ? dh_epoch_with(reader, s->mask) : 0;
    return n == 1 ? 0 : intern(t, s->mask, with, n);
}
