/* Sequential consistency: a load answers the newest write, and nothing else. What all other models are held against. */
#include "memory/location_model.h"

struct sc {
    struct dh_locations locations; /* first: location_model.h */
};

static void begin_run(void *self)
{
    dh_locations_begin(&((struct sc *)self)->locations);
}

static void *start(struct dh_memory *memory)
{
    struct sc *s = memory->memory(memory, sizeof *s);
    if (!s)
        return NULL;
    dh_locations_init(&s->locations, memory, 2, 0);
    begin_run(s);
    return s->locations.root ? s : NULL;
}

static unsigned load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room)
{
    struct dh_location *at = dh_location_get(&((struct sc *)self)->locations, a->address, a->size);
    if (!at || !room)
        return 0;
    out[0] = dh_candidate_of(dh_location_newest(at), 0);
    return 1;
}

static void store(void *self, const struct dh_memory_access *a, uint64_t value)
{
    struct sc *s = self;
    struct dh_location *at = dh_location_get(&s->locations, a->address, a->size);
    if (at && dh_location_push(&s->locations, at, a, value))
        dh_location_drop(&s->locations, at, 0);
    struct dh_memory *m = s->locations.arena.memory;
    m->poke(m, a->address, a->size, value);
}

static void update(void *self, const struct dh_memory_access *a, unsigned index, uint64_t value)
{
    (void)index;
    store(self, a, value);
}

const struct dh_memory_model dh_memory_sc = {
    .name = "sc",
    .summary = "a load answers the newest write",
    .start = start,
    .begin = begin_run,
    .fork = dh_model_no_edge,
    .join = dh_model_no_edge,
    .acquire = dh_model_no_object,
    .release = dh_model_no_object,
    .atomic = dh_model_no_atomic,
    .load = load,
    .took = dh_model_no_read,
    .store = store,
    .update = update,
    .fence = dh_model_no_fence,
    DH_MODEL_OF_LOCATIONS,
};
