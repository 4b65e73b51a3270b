/* The memory models of models.def by name, and what a compare-exchange may read under any of them. */
#include "memory/model.h"

#include "base/reader.h"

#define DH_MEMORY_MODEL(id) extern const struct dh_memory_model dh_memory_##id;
#include "memory/models.def"
#undef DH_MEMORY_MODEL

const struct dh_memory_model *const dh_memory_models[] = {
#define DH_MEMORY_MODEL(id) &dh_memory_##id,
#include "memory/models.def"
#undef DH_MEMORY_MODEL
    NULL,
};

const struct dh_memory_model *dh_memory_model_by_name(const char *name)
{
    for (const struct dh_memory_model *const *m = dh_memory_models; *m; m++)
        if (dh_span_is(dh_span_of(name), (*m)->name))
            return *m;
    return NULL;
}

/* Those of `list` that (do not) have the value, moved to the front. */
static unsigned only(struct dh_candidate *list, unsigned n, uint64_t value, bool equals)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++)
        if ((list[i].value == value) == equals)
            list[kept++] = list[i];
    return kept;
}

unsigned dh_memory_compare_exchange(const struct dh_memory_model *model, void *self,
                                    const struct dh_memory_access *access, uint64_t expected, enum dh_order failure,
                                    struct dh_candidate *out, unsigned room)
{
    struct dh_memory_access update = *access, load = *access;
    update.updates = true;
    load.updates = false;
    load.order = (uint8_t)failure;
    unsigned n = only(out, model->load(self, &update, out, room), expected, true);
    return n + only(out + n, model->load(self, &load, out + n, room - n), expected, false);
}
