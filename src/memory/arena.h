/* Memory of a run that can be copied away and back, which base/arena.h cannot. Layer: memory. Segments never move, so
 * what lies in them may point into them; nothing is given back before the run begins anew. */
#ifndef DH_MEMORY_ARENA_H
#define DH_MEMORY_ARENA_H

#include "memory/model.h"

enum { DH_ARENA_SEGMENTS = 20, DH_ARENA_FIRST = 1 << 14 };

struct dh_arena {
    struct dh_memory *memory;
    char *at[DH_ARENA_SEGMENTS];
    size_t room[DH_ARENA_SEGMENTS];
    struct dh_arena_marks {
        size_t used[DH_ARENA_SEGMENTS];
        unsigned now;
    } marks;
};

void dh_arena_clear(struct dh_arena *a);
/* Zeroed; NULL: no memory, which is counted. */
void *dh_arena_take(struct dh_arena *a, size_t size);

size_t dh_arena_snapshot_size(const struct dh_arena *a);
void dh_arena_snapshot(const struct dh_arena *a, void *to);
void dh_arena_restore(struct dh_arena *a, const void *from);

/* Without libc, whose functions the runtime watches; `size` is a multiple of eight, both are aligned. */
void dh_memory_copy(void *to, const void *from, size_t size);

#endif
