/* Maps from LLVM handles (or any non-zero 64-bit key) to small numbers. Layer: instrument.
 * Open addressing; the owner of the struct owns the storage. Zero-initialise to start. Not thread-safe. */
#ifndef DH_INSTRUMENT_PTRMAP_H
#define DH_INSTRUMENT_PTRMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dh_ptrmap_entry {
    uint64_t key; /* 0 = free */
    uint32_t value;
};

struct dh_ptrmap {
    struct dh_ptrmap_entry *at;
    size_t n, cap;
};

/* NULL when absent. */
uint32_t *dh_ptrmap_find(const struct dh_ptrmap *map, uint64_t key);
/* `key` must be absent. */
void dh_ptrmap_add(struct dh_ptrmap *map, uint64_t key, uint32_t value);
void dh_ptrmap_clear(struct dh_ptrmap *map);
void dh_ptrmap_release(struct dh_ptrmap *map);

static inline uint64_t dh_ptrmap_key(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

#endif
