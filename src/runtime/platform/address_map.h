/* Records found by the address (or number) of what they belong to. Layer: runtime. Lock-free, records are never removed
 * but used again for the same key; from mmap, zeroed. Any thread, signal handlers. */
#ifndef DH_RUNTIME_PLATFORM_ADDRESS_MAP_H
#define DH_RUNTIME_PLATFORM_ADDRESS_MAP_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of every record. */
struct dh_map_node {
    uint64_t key;
    struct dh_map_node *next;
};

#define DH_MAP_BUCKETS 1024

struct dh_address_map {
    _Atomic(struct dh_map_node *) bucket[DH_MAP_BUCKETS];
    size_t record; /* bytes of a record, node included */
};

/* NULL: there is none. */
void *dh_map_find(const struct dh_address_map *map, uint64_t key);
/* Makes one if need be. NULL: no memory. */
void *dh_map_get(struct dh_address_map *map, uint64_t key);

#endif
