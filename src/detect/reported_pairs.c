#include "detect/reported_pairs.h"

#include "event/event.h"

#include <stdlib.h>

void dh_reported_pairs_release(struct dh_reported_pairs *p)
{
    free(p->names);
    *p = (struct dh_reported_pairs){0};
}

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 32) * 0xff51afd7ed558ccdu;
    return h ^ h >> 29;
}

static uint64_t name_of(struct dh_reported_access a, struct dh_reported_access b, uint64_t where)
{
    uint64_t x = (uint64_t)a.site << 8 | a.op, y = (uint64_t)b.site << 8 | b.op;
    bool known = a.site != DH_NO_PLACE && b.site != DH_NO_PLACE;
    return mix(mix(x < y ? x : y) + mix(mix(x < y ? y : x)) + (known ? 0 : mix(where))) | 1;
}

static uint64_t *slot_of(const struct dh_reported_pairs *p, uint64_t name)
{
    size_t i = name >> 1 & (p->cap - 1);
    while (p->names[i] && p->names[i] != name)
        i = (i + 1) & (p->cap - 1);
    return &p->names[i];
}

static void grow(struct dh_reported_pairs *p)
{
    struct dh_reported_pairs old = *p;
    p->cap = old.cap ? 2 * old.cap : 64;
    p->names = calloc(p->cap, sizeof *p->names);
    if (!p->names)
        abort();
    for (size_t i = 0; i < old.cap; i++)
        if (old.names[i])
            *slot_of(p, old.names[i]) = old.names[i];
    free(old.names);
}

bool dh_reported_pairs_add(struct dh_reported_pairs *p, struct dh_reported_access a, struct dh_reported_access b,
                           uint64_t where)
{
    if (2 * p->n >= p->cap)
        grow(p);
    uint64_t name = name_of(a, b, where), *slot = slot_of(p, name);
    if (*slot)
        return false;
    *slot = name;
    p->n++;
    return true;
}
