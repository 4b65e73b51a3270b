#include "runtime/platform/address_map.h"

#include "base/hash.h"
#include "runtime/platform/alloc.h"

static size_t bucket_of(uint64_t key)
{
    return dh_hash_multiply(key) >> 54;
}
_Static_assert(DH_MAP_BUCKETS == 1 << (64 - 54), "the shift picks a bucket");

static struct dh_map_node *search(struct dh_map_node *from, const struct dh_map_node *end, uint64_t key)
{
    while (from != end && from->key != key)
        from = from->next;
    return from == end ? NULL : from;
}

void *dh_map_find(const struct dh_address_map *map, uint64_t key)
{
    return search(atomic_load_explicit(&map->bucket[bucket_of(key)], memory_order_acquire), NULL, key);
}

void *dh_map_get(struct dh_address_map *map, uint64_t key)
{
    _Atomic(struct dh_map_node *) *bucket = &map->bucket[bucket_of(key)];
    struct dh_map_node *head = atomic_load_explicit(bucket, memory_order_acquire);
    struct dh_map_node *found = search(head, NULL, key), *fresh;
    if (found || !(fresh = dh_alloc_forever(map->record)))
        return found;
    fresh->key = key;
    for (;;) {
        struct dh_map_node *searched = head;
        fresh->next = head;
        if (atomic_compare_exchange_strong_explicit(bucket, &head, fresh, memory_order_acq_rel, memory_order_acquire))
            return fresh;
        found = search(head, searched, key);
        if (found)
            return found; /* `fresh` stays unused */
    }
}
