#include "base/map.h"

#include "base/alloc.h"

#include <string.h>

enum { FIRST_BITS = 4 };

/* ---- index ---- */

/* Where it belongs, by the highest bits. */
static uint32_t home_of(const struct dh_index *x, uint32_t hash)
{
    return hash >> (x->shift - 32);
}

static void insert(struct dh_index *x, struct dh_index_slot s)
{
    uint32_t at = home_of(x, s.hash);
    while (x->slot[at].number)
        at = (at + 1) & x->mask;
    x->slot[at] = s;
}

static void grow_index(struct dh_index *x)
{
    struct dh_index old = *x;
    x->mask = old.slot ? 2 * old.mask + 1 : (1 << FIRST_BITS) - 1;
    x->shift = old.slot ? old.shift - 1 : 64 - FIRST_BITS;
    x->slot = dh_xcalloc((size_t)x->mask + 1, sizeof *x->slot);
    for (size_t i = 0; old.slot && i <= old.mask; i++)
        if (old.slot[i].number)
            insert(x, old.slot[i]);
    free(old.slot);
}

void dh_index_add(struct dh_index *x, uint64_t hash, uint32_t number)
{
    if (!x->slot || x->n > x->mask / 2)
        grow_index(x);
    insert(x, (struct dh_index_slot){(uint32_t)(hash >> 32), number + 1});
    x->n++;
}

static uint32_t slot_of(const struct dh_index *x, uint64_t hash, uint32_t number)
{
    uint32_t at = home_of(x, (uint32_t)(hash >> 32));
    while (x->slot[at].number != number + 1)
        at = (at + 1) & x->mask;
    return at;
}

/* Those after it that could not be where they belong move up, so that no search ends at the hole. */
void dh_index_remove(struct dh_index *x, uint64_t hash, uint32_t number)
{
    uint32_t hole = slot_of(x, hash, number);
    for (uint32_t at = (hole + 1) & x->mask; x->slot[at].number; at = (at + 1) & x->mask) {
        uint32_t away = (at - home_of(x, x->slot[at].hash)) & x->mask;
        if (away >= ((at - hole) & x->mask)) {
            x->slot[hole] = x->slot[at];
            hole = at;
        }
    }
    x->slot[hole] = (struct dh_index_slot){0, 0};
    x->n--;
}

void dh_index_renumber(struct dh_index *x, uint64_t hash, uint32_t from, uint32_t to)
{
    x->slot[slot_of(x, hash, from)].number = to + 1;
}

void dh_index_clear(struct dh_index *x)
{
    /* One that was filled once must not make every later phase pay for its size. */
    if (x->slot && x->mask > 4095 && x->n < x->mask / 16)
        dh_index_release(x);
    else if (x->n)
        memset(x->slot, 0, ((size_t)x->mask + 1) * sizeof *x->slot);
    x->n = 0;
}

void dh_index_release(struct dh_index *x)
{
    free(x->slot);
    *x = (struct dh_index){0};
}

uint32_t dh_index_intern_row(struct dh_index *x, const void *rows, size_t n, size_t size, const void *row)
{
    uint64_t hash = dh_hash_bytes(row, size);
    struct dh_probe p = dh_index_probe(x, hash);
    for (uint32_t i; (i = dh_index_next(x, &p)) != DH_ABSENT;)
        if (memcmp((const char *)rows + i * size, row, size) == 0)
            return i;
    dh_index_add(x, hash, (uint32_t)n);
    return (uint32_t)n;
}

uint32_t dh_index_intern_text(struct dh_index *x, const char *pool, size_t n, const char *text)
{
    uint64_t hash = dh_hash_string(text);
    struct dh_probe p = dh_index_probe(x, hash);
    for (uint32_t i; (i = dh_index_next(x, &p)) != DH_ABSENT;)
        if (strcmp(pool + i, text) == 0)
            return i;
    dh_index_add(x, hash, (uint32_t)n);
    return (uint32_t)n;
}

/* An entry goes, the last one takes its number. */
static void drop(struct dh_index *x, uint64_t hash, uint32_t number, uint64_t last_hash, uint32_t last)
{
    dh_index_remove(x, hash, number);
    if (number != last)
        dh_index_renumber(x, last_hash, last, number);
}

static uint32_t more(uint32_t cap)
{
    return cap ? (cap > UINT32_MAX / 2 ? UINT32_MAX : 2 * cap) : 8;
}

/* ---- numbers ---- */

struct dh_u64_entry *dh_u64_map_append(struct dh_u64_map *m, uint64_t key)
{
    if (m->n == m->cap) {
        m->cap = more(m->cap);
        m->at = dh_xrealloc(m->at, m->cap, sizeof *m->at);
    }
    dh_index_add(&m->index, dh_hash_u64(key), m->n);
    m->at[m->n] = (struct dh_u64_entry){.key = key};
    return &m->at[m->n++];
}

bool dh_u64_map_remove(struct dh_u64_map *m, uint64_t key)
{
    uint32_t i = dh_u64_map_seek(m, key);
    if (i == DH_ABSENT)
        return false;
    struct dh_u64_entry last = m->at[--m->n];
    drop(&m->index, dh_hash_u64(key), i, dh_hash_u64(last.key), m->n);
    m->at[i] = last;
    return true;
}

void dh_u64_map_clear(struct dh_u64_map *m)
{
    dh_index_clear(&m->index);
    m->n = 0;
}

void dh_u64_map_release(struct dh_u64_map *m)
{
    dh_index_release(&m->index);
    free(m->at);
    *m = (struct dh_u64_map){0};
}

/* ---- structs ---- */

uint32_t dh_key_map_number(struct dh_key_map *m, const void *key)
{
    uint32_t i = dh_index_intern_row(&m->index, m->keys, m->n, m->size, key);
    if (i < m->n)
        return i;
    if (m->n == m->cap) {
        m->cap = more(m->cap);
        m->keys = dh_xrealloc(m->keys, m->cap, m->size);
    }
    memcpy(m->keys + m->n * m->size, key, m->size);
    return m->n++;
}

void dh_key_map_release(struct dh_key_map *m)
{
    dh_index_release(&m->index);
    free(m->keys);
    *m = (struct dh_key_map){.size = m->size};
}

/* ---- strings ---- */

static uint32_t seek_string(const struct dh_string_map *m, const char *key, size_t n, uint64_t hash)
{
    struct dh_probe p = dh_index_probe(&m->index, hash);
    for (uint32_t i; (i = dh_index_next(&m->index, &p)) != DH_ABSENT;)
        if (m->at[i].length == n && memcmp(m->at[i].key, key, n) == 0)
            return i;
    return DH_ABSENT;
}

uint32_t dh_string_map_seek_n(const struct dh_string_map *m, const char *key, size_t n)
{
    return m->n ? seek_string(m, key, n, dh_hash_bytes(key, n)) : DH_ABSENT;
}

uint32_t dh_string_map_seek(const struct dh_string_map *m, const char *key)
{
    return dh_string_map_seek_n(m, key, strlen(key));
}

uint32_t *dh_string_map_find_n(const struct dh_string_map *m, const char *key, size_t n)
{
    uint32_t i = dh_string_map_seek_n(m, key, n);
    return i == DH_ABSENT ? NULL : &m->at[i].value;
}

uint32_t *dh_string_map_find(const struct dh_string_map *m, const char *key)
{
    return dh_string_map_find_n(m, key, strlen(key));
}

uint32_t dh_string_map_number_n(struct dh_string_map *m, const char *key, size_t n)
{
    uint64_t hash = dh_hash_bytes(key, n);
    uint32_t i = seek_string(m, key, n, hash);
    if (i != DH_ABSENT)
        return i;
    if (m->n == m->cap) {
        m->cap = more(m->cap);
        m->at = dh_xrealloc(m->at, m->cap, sizeof *m->at);
    }
    char *copy = dh_xmalloc(n + 1);
    memcpy(copy, key, n);
    copy[n] = 0;
    dh_index_add(&m->index, hash, m->n);
    m->at[m->n] = (struct dh_string_entry){.key = copy, .length = (uint32_t)n};
    return m->n++;
}

uint32_t dh_string_map_number(struct dh_string_map *m, const char *key)
{
    return dh_string_map_number_n(m, key, strlen(key));
}

uint32_t *dh_string_map_at_n(struct dh_string_map *m, const char *key, size_t n)
{
    uint32_t i = dh_string_map_number_n(m, key, n); /* may move the entries */
    return &m->at[i].value;
}

uint32_t *dh_string_map_at(struct dh_string_map *m, const char *key)
{
    return dh_string_map_at_n(m, key, strlen(key));
}

void dh_string_map_clear(struct dh_string_map *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        free(m->at[i].key);
    dh_index_clear(&m->index);
    m->n = 0;
}

void dh_string_map_release(struct dh_string_map *m)
{
    dh_string_map_clear(m);
    dh_index_release(&m->index);
    free(m->at);
    *m = (struct dh_string_map){0};
}
