/* Hash maps. Layer: base. Entries lie in one array in the order of their insertion, numbered from 0, and are walked
 * there: order never depends on addresses or hashes. Removal moves the last entry to the place of the removed one.
 * The owner of the struct owns the storage; zero-initialise, release in the end. Pointers to values hold until the next
 * addition. Aborts when memory is gone: hosted code only. Not thread-safe. */
#ifndef DH_BASE_MAP_H
#define DH_BASE_MAP_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_ABSENT UINT32_MAX

/* ---- index: from hashes to numbers of entries, which the caller keeps and compares ---- */

struct dh_index {
    struct dh_index_slot {
        uint32_t hash, number; /* number + 1; 0: free */
    } *slot;
    uint32_t n, mask; /* open addressing, linear; one slot more than `mask` */
    unsigned shift;   /* of a hash, to its slot */
};

/* Walks the numbers that were added with this hash, others now and then: compare.
 *     struct dh_probe p = dh_index_probe(&x, hash);
 *     for (uint32_t i; (i = dh_index_next(&x, &p)) != DH_ABSENT;) */
struct dh_probe {
    uint32_t hash, at;
};

static inline struct dh_probe dh_index_probe(const struct dh_index *x, uint64_t hash)
{
    return (struct dh_probe){(uint32_t)(hash >> 32), (uint32_t)(hash >> x->shift)};
}

static inline uint32_t dh_index_next(const struct dh_index *x, struct dh_probe *p)
{
    if (!x->slot)
        return DH_ABSENT;
    for (;;) {
        struct dh_index_slot s = x->slot[p->at];
        if (!s.number)
            return DH_ABSENT;
        p->at = (p->at + 1) & x->mask;
        if (s.hash == p->hash)
            return s.number - 1;
    }
}

/* `number` is below 2^32 - 1 and not there yet. */
void dh_index_add(struct dh_index *x, uint64_t hash, uint32_t number);
/* Both must be there. */
void dh_index_remove(struct dh_index *x, uint64_t hash, uint32_t number);
void dh_index_renumber(struct dh_index *x, uint64_t hash, uint32_t from, uint32_t to);
void dh_index_clear(struct dh_index *x);
void dh_index_release(struct dh_index *x);

/* Interning. Of `n` rows of one size, the number of the one that equals `row`, byte by byte; `n` if none does, which is
 * then in the index for the row that the caller appends. */
uint32_t dh_index_intern_row(struct dh_index *x, const void *rows, size_t n, size_t size, const void *row);
/* Likewise of strings one after the other in `n` bytes: the offset of `text`, or `n`. */
uint32_t dh_index_intern_text(struct dh_index *x, const char *pool, size_t n, const char *text);

/* ---- from 64-bit numbers, and from pointers, to numbers or pointers; any key will do, 0 too ---- */

struct dh_u64_map {
    struct dh_u64_entry {
        uint64_t key;
        union {
            uint64_t value;
            void *pointer;
        };
    } *at; /* n of them, to walk */
    uint32_t n, cap;
    struct dh_index index;
};

/* The number of the key's entry, or DH_ABSENT. */
static inline uint32_t dh_u64_map_seek(const struct dh_u64_map *m, uint64_t key)
{
    struct dh_probe p = dh_index_probe(&m->index, dh_hash_u64(key));
    uint32_t i;
    while ((i = dh_index_next(&m->index, &p)) != DH_ABSENT && m->at[i].key != key)
        ;
    return i;
}

/* NULL when absent. */
static inline uint64_t *dh_u64_map_find(const struct dh_u64_map *m, uint64_t key)
{
    uint32_t i = dh_u64_map_seek(m, key);
    return i == DH_ABSENT ? NULL : &m->at[i].value;
}

/* `key` must be absent. */
struct dh_u64_entry *dh_u64_map_append(struct dh_u64_map *m, uint64_t key);

static inline struct dh_u64_entry *dh_u64_map_entry(struct dh_u64_map *m, uint64_t key)
{
    uint32_t i = dh_u64_map_seek(m, key);
    return i == DH_ABSENT ? dh_u64_map_append(m, key) : &m->at[i];
}

/* Where the value of `key` is kept, which is added with 0 when absent. */
static inline uint64_t *dh_u64_map_at(struct dh_u64_map *m, uint64_t key)
{
    return &dh_u64_map_entry(m, key)->value;
}

/* The key's number in the order of insertion; it is what m->n was when the key is new. */
static inline uint32_t dh_u64_map_number(struct dh_u64_map *m, uint64_t key)
{
    return (uint32_t)(dh_u64_map_entry(m, key) - m->at);
}

/* False: it was not there. */
bool dh_u64_map_remove(struct dh_u64_map *m, uint64_t key);
void dh_u64_map_clear(struct dh_u64_map *m);
void dh_u64_map_release(struct dh_u64_map *m);

/* ---- from pointers to pointers: the same map, dressed ---- */

struct dh_ptr_map {
    struct dh_u64_map of;
};

/* NULL when absent. */
static inline void *dh_ptr_map_find(const struct dh_ptr_map *m, const void *key)
{
    uint32_t i = dh_u64_map_seek(&m->of, (uintptr_t)key);
    return i == DH_ABSENT ? NULL : m->of.at[i].pointer;
}

/* Where the value of `key` is kept, NULL at first. */
static inline void **dh_ptr_map_at(struct dh_ptr_map *m, const void *key)
{
    return &dh_u64_map_entry(&m->of, (uintptr_t)key)->pointer;
}

static inline void dh_ptr_map_clear(struct dh_ptr_map *m)
{
    dh_u64_map_clear(&m->of);
}

static inline void dh_ptr_map_release(struct dh_ptr_map *m)
{
    dh_u64_map_release(&m->of);
}

/* ---- from structs of one size, as bytes, to their numbers; fill paddings, or have none ---- */

struct dh_key_map {
    size_t size;         /* of a key; DH_KEY_MAP sets it */
    unsigned char *keys; /* n of them, to walk with dh_key_map_key */
    uint32_t n, cap;
    struct dh_index index;
};

#define DH_KEY_MAP(T) {.size = sizeof(T)}

static inline const void *dh_key_map_key(const struct dh_key_map *m, uint32_t number)
{
    return m->keys + number * m->size;
}

/* The key's number in the order of insertion; it is what m->n was when the key is new. */
uint32_t dh_key_map_number(struct dh_key_map *m, const void *key);
void dh_key_map_release(struct dh_key_map *m);

/* ---- from strings, of which it owns copies, to uint32_t ---- */

struct dh_string_map {
    struct dh_string_entry {
        char *key;
        uint32_t length, value;
    } *at; /* n of them, to walk */
    uint32_t n, cap;
    struct dh_index index;
};

/* As above; those with `_n` take text that needs no 0 at its end. */
uint32_t dh_string_map_seek(const struct dh_string_map *m, const char *key);
uint32_t dh_string_map_seek_n(const struct dh_string_map *m, const char *key, size_t n);
uint32_t *dh_string_map_find(const struct dh_string_map *m, const char *key);
uint32_t *dh_string_map_find_n(const struct dh_string_map *m, const char *key, size_t n);
uint32_t *dh_string_map_at(struct dh_string_map *m, const char *key);
uint32_t *dh_string_map_at_n(struct dh_string_map *m, const char *key, size_t n);
uint32_t dh_string_map_number(struct dh_string_map *m, const char *key);
uint32_t dh_string_map_number_n(struct dh_string_map *m, const char *key, size_t n);
void dh_string_map_clear(struct dh_string_map *m);
void dh_string_map_release(struct dh_string_map *m);

#endif
