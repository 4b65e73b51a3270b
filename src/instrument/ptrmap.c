#include "instrument/ptrmap.h"

#include <stdlib.h>
#include <string.h>

static size_t slot_of(uint64_t key, size_t cap)
{
    return (size_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (cap - 1);
}

static struct dh_ptrmap_entry *probe(struct dh_ptrmap_entry *at, size_t cap, uint64_t key)
{
    size_t i = slot_of(key, cap);
    while (at[i].key && at[i].key != key)
        i = (i + 1) & (cap - 1);
    return &at[i];
}

uint32_t *dh_ptrmap_find(const struct dh_ptrmap *map, uint64_t key)
{
    if (!map->n)
        return NULL;
    struct dh_ptrmap_entry *e = probe(map->at, map->cap, key);
    return e->key ? &e->value : NULL;
}

static void grow(struct dh_ptrmap *map)
{
    size_t cap = map->cap ? map->cap * 2 : 64;
    struct dh_ptrmap_entry *at = calloc(cap, sizeof *at);
    if (!at)
        abort();
    for (size_t i = 0; i < map->cap; i++)
        if (map->at[i].key)
            *probe(at, cap, map->at[i].key) = map->at[i];
    free(map->at);
    map->at = at;
    map->cap = cap;
}

void dh_ptrmap_add(struct dh_ptrmap *map, uint64_t key, uint32_t value)
{
    if ((map->n + 1) * 4 > map->cap * 3)
        grow(map);
    *probe(map->at, map->cap, key) = (struct dh_ptrmap_entry){key, value};
    map->n++;
}

void dh_ptrmap_clear(struct dh_ptrmap *map)
{
    if (map->n)
        memset(map->at, 0, map->cap * sizeof *map->at);
    map->n = 0;
}

void dh_ptrmap_release(struct dh_ptrmap *map)
{
    free(map->at);
    *map = (struct dh_ptrmap){0};
}
