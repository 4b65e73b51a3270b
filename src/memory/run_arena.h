/* Arena of a run with snapshot and restore, which base/arena.h does not have. Layer: memory. Segments never move, so
 * what lies in them may point into them; nothing is given back before the run begins anew. */
#ifndef DH_MEMORY_RUN_ARENA_H
#define DH_MEMORY_RUN_ARENA_H

#include "memory/model.h"

enum { DH_RUN_ARENA_SEGMENTS = 20, DH_RUN_ARENA_FIRST = 1 << 14 };

struct dh_run_arena {
    struct dh_memory *memory;
    char *at[DH_RUN_ARENA_SEGMENTS];
    size_t room[DH_RUN_ARENA_SEGMENTS];
    struct dh_run_arena_marks {
        size_t used[DH_RUN_ARENA_SEGMENTS];
        unsigned now;
    } marks;
};

void dh_run_arena_clear(struct dh_run_arena *a);
/* Zeroed; NULL: no memory, which is counted. */
void *dh_run_arena_take(struct dh_run_arena *a, size_t size);

size_t dh_run_arena_snapshot_size(const struct dh_run_arena *a);
void dh_run_arena_snapshot(const struct dh_run_arena *a, void *to);
void dh_run_arena_restore(struct dh_run_arena *a, const void *from);

#endif
