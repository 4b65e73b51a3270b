/* Memory of one phase, given back at once, and a map keyed by pointer. Layer: ir.
 * Owner of the struct owns all that was handed out; zero-initialise. Aborts when memory is gone. Not thread-safe. */
#ifndef DH_IR_ARENA_H
#define DH_IR_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct dh_arena {
    struct dh_arena_block *first, *now;
};

/* Zeroed, aligned for any type. */
void *dh_arena_take(struct dh_arena *a, size_t n);
char *dh_arena_text(struct dh_arena *a, const char *text, size_t n);
char *dh_arena_format(struct dh_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* All strings one after the other; the list ends with NULL. */
char *dh_arena_join(struct dh_arena *a, ...) __attribute__((sentinel));
/* Forgets everything, keeps the blocks for reuse. */
void dh_arena_clear(struct dh_arena *a);
void dh_arena_release(struct dh_arena *a);

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
