#include "ir/arena.h"

#include "base/alloc.h"

#include <string.h>

static size_t place_of(const struct dh_map *m, const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h >> 32) & m->mask;
    while (m->slot[at].key && m->slot[at].key != key)
        at = (at + 1) & m->mask;
    return at;
}

void *dh_map_find(const struct dh_map *m, const void *key)
{
    return m->slot && key ? m->slot[place_of(m, key)].value : NULL;
}

static void widen(struct dh_map *m)
{
    struct dh_map wider = {NULL, m->slot ? m->mask * 2 + 1 : 255, m->n};
    wider.slot = dh_xcalloc(wider.mask + 1, sizeof *wider.slot);
    for (size_t i = 0; m->slot && i <= m->mask; i++)
        if (m->slot[i].key)
            wider.slot[place_of(&wider, m->slot[i].key)] = m->slot[i];
    free(m->slot);
    *m = wider;
}

void **dh_map_at(struct dh_map *m, const void *key)
{
    if (!m->slot || m->n * 2 > m->mask)
        widen(m);
    struct dh_map_slot *s = &m->slot[place_of(m, key)];
    if (!s->key) {
        s->key = key;
        m->n++;
    }
    return &s->value;
}

void dh_map_clear(struct dh_map *m)
{
    if (!m->n)
        return;
    /* A map that one huge function filled must not make every later function pay for its size. */
    if (m->mask > 4095 && m->n * 16 < m->mask) {
        dh_map_release(m);
        return;
    }
    memset(m->slot, 0, (m->mask + 1) * sizeof *m->slot);
    m->n = 0;
}

void dh_map_release(struct dh_map *m)
{
    free(m->slot);
    *m = (struct dh_map){NULL, 0, 0};
}
