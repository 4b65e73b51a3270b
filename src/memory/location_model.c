#include "memory/location_model.h"

unsigned dh_model_pieces(void *self, uint64_t address, uint64_t size, struct dh_access_piece *out, unsigned room)
{
    return dh_locations_pieces(self, address, size, out, room);
}

void dh_model_forget(void *self, uint64_t address, uint64_t size)
{
    dh_locations_forget(self, address, size);
}

size_t dh_model_snapshot_size(void *self)
{
    return dh_run_arena_snapshot_size(&((struct dh_locations *)self)->arena);
}

void dh_model_snapshot(void *self, void *to)
{
    dh_run_arena_snapshot(&((struct dh_locations *)self)->arena, to);
}

void dh_model_restore(void *self, const void *from)
{
    dh_run_arena_restore(&((struct dh_locations *)self)->arena, from);
}

void dh_model_no_edge(void *self, uint32_t a, uint32_t b)
{
    (void)self, (void)a, (void)b;
}

void dh_model_no_object(void *self, uint32_t thread, uint64_t object)
{
    (void)self, (void)thread, (void)object;
}

void dh_model_no_atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes)
{
    (void)self, (void)thread, (void)object, (void)order, (void)reads, (void)writes;
}

void dh_model_no_fence(void *self, uint32_t thread, enum dh_order order)
{
    (void)self, (void)thread, (void)order;
}

void dh_model_no_read(void *self, const struct dh_memory_access *a, unsigned index)
{
    (void)self, (void)a, (void)index;
}

void dh_model_store_untracked(struct dh_locations *l, const struct dh_memory_access *a, uint64_t value)
{
    dh_locations_forget(l, a->address, a->size);
    l->arena.memory->poke(l->arena.memory, a->address, a->size, value);
}

unsigned dh_model_load_newest(struct dh_locations *l, const struct dh_memory_access *a, struct dh_candidate *out,
                              unsigned room)
{
    struct dh_location *at = room ? dh_location_get(l, a->address, a->size) : NULL;
    if (!at)
        return 0;
    out[0] = dh_candidate_of(dh_location_newest(at), at->newest);
    return 1;
}
