/* A map keyed by pointer, beside the arena that its values lie in. Layer: ir.
 * Owner of the struct owns the slots; zero-initialise. Aborts when memory is gone. Not thread-safe. */
#ifndef DH_IR_ARENA_H
#define DH_IR_ARENA_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct dh_map {
    struct dh_map_slot {
        const void *key;
        void *value;
    } *slot;
    size_t mask, n;
};

/* NULL when absent. */
void *dh_map_find(const struct dh_map *m, const void *key);
/* Where the value of `key` is kept, NULL at first; valid until the next call. */
void **dh_map_at(struct dh_map *m, const void *key);
void dh_map_clear(struct dh_map *m);
void dh_map_release(struct dh_map *m);

#endif
