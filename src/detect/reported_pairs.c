#include "detect/reported_pairs.h"

#include "base/hash.h"
#include "event/event.h"

void dh_reported_pairs_release(struct dh_reported_pairs *p)
{
    dh_u64_set_release(&p->keys);
}

static uint64_t key_of(struct dh_reported_access a, struct dh_reported_access b, uint64_t where)
{
    uint64_t x = (uint64_t)a.site << 8 | a.op, y = (uint64_t)b.site << 8 | b.op;
    bool known = a.site != DH_NO_PLACE && b.site != DH_NO_PLACE;
    uint64_t key = dh_hash_combine(dh_hash_u64(x < y ? x : y), x < y ? y : x);
    return known ? key : dh_hash_combine(key, where);
}

bool dh_reported_pairs_add(struct dh_reported_pairs *p, struct dh_reported_access a, struct dh_reported_access b,
                           uint64_t where)
{
    return dh_u64_set_add(&p->keys, key_of(a, b, where));
}

bool dh_reported_pairs_has(const struct dh_reported_pairs *p, struct dh_reported_access a, struct dh_reported_access b,
                           uint64_t where)
{
    return dh_u64_set_has(&p->keys, key_of(a, b, where));
}
