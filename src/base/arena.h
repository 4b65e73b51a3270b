/* Memory of one phase, given back at once. Layer: base. Zero-initialise; the owner of the struct owns all that was
 * handed out, which never moves. Aborts when memory is gone: hosted code only. Not thread-safe.
 * What a run of the checked program keeps and takes back is in memory/run_arena.h. */
#ifndef DH_BASE_ARENA_H
#define DH_BASE_ARENA_H

#include <stddef.h>

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

#endif
