/* Memory that was accessed at adversarial places in this schedule. */
#include "runtime/engine/adversary/state.h"

enum { FORGOTTEN_MOST = 1 << 16 };

struct dh_tracked *dh_adversary_slot(uint64_t granule)
{
    uint64_t i = granule * 0x9e3779b97f4a7c15u >> (64 - TRACKED_BITS);
    while (dh_adversary->tracked[i].schedule == dh_adversary->schedule && dh_adversary->tracked[i].granule != granule)
        i = (i + 1) & ((1u << TRACKED_BITS) - 1);
    return &dh_adversary->tracked[i];
}

bool dh_adversary_is_tracked(uint64_t at, uint64_t size)
{
    if (at >= dh_adversary->state.high || at + size <= dh_adversary->state.low)
        return false;
    uint64_t from = at > dh_adversary->state.low ? at : dh_adversary->state.low;
    uint64_t to = at + size < dh_adversary->state.high ? at + size : dh_adversary->state.high;
    for (uint64_t g = from >> GRANULE_SHIFT; g <= (to - 1) >> GRANULE_SHIFT; g++)
        if (dh_adversary_slot(g)->schedule == dh_adversary->schedule)
            return true;
    return false;
}

static void note_shared(struct dh_tracked *t, uint32_t by)
{
    if (t->shared || t->first == by)
        return;
    t->shared = true;
    dh_engine->control->progress.shared++;
}

bool dh_adversary_track(uint64_t at, uint64_t size, uint32_t by)
{
    for (uint64_t g = at >> GRANULE_SHIFT; g <= (at + size - 1) >> GRANULE_SHIFT; g++) {
        struct dh_tracked *t = dh_adversary_slot(g);
        uint8_t bytes = dh_adversary_bytes(g, at, size);
        if (t->schedule == dh_adversary->schedule) {
            note_shared(t, by);
            t->mixed |= t->once & bytes && t->once != bytes;
            t->bytes |= bytes;
            continue;
        }
        if (dh_adversary->n_tracked >= 3u << (TRACKED_BITS - 2)) {
            dh_adversary->unsure = true;
            return false;
        }
        *t = (struct dh_tracked){
            .granule = g, .schedule = dh_adversary->schedule, .first = by, .once = bytes, .bytes = bytes};
        dh_adversary->n_tracked++;
        if (dh_adversary->n_tracked > dh_engine->control->progress.locations)
            dh_engine->control->progress.locations = dh_adversary->n_tracked;
    }
    dh_adversary->state.low = at < dh_adversary->state.low ? at : dh_adversary->state.low;
    dh_adversary->state.high = at + size > dh_adversary->state.high ? at + size : dh_adversary->state.high;
    return true;
}

void dh_adversary_forget(uintptr_t at, size_t size)
{
    if (!dh_adversary || !size || at >= dh_adversary->state.high || at + size <= dh_adversary->state.low)
        return;
    uintptr_t from = at > dh_adversary->state.low ? at : dh_adversary->state.low;
    uintptr_t to = at + size < dh_adversary->state.high ? at + size : dh_adversary->state.high;
    dh_adversary->model->forget(dh_adversary->self, from, to - from);
    dh_drains_look();
    for (uint64_t g = from >> GRANULE_SHIFT; g <= (to - 1) >> GRANULE_SHIFT && to - from <= FORGOTTEN_MOST; g++)
        dh_adversary_slot(g)->bytes &= (uint8_t)~dh_adversary_bytes(g, from, to - from);
}
