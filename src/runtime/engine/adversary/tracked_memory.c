/* Memory that was accessed at adversarial places in this schedule: granules of eight bytes in a hash table in KEEP
 * memory; entries of earlier schedules are free. */
#include "runtime/engine/adversary/internal.h"

#include "base/hash.h"

enum { FORGOTTEN_MOST = 1 << 16 };

struct dh_tracked_granule *dh_adversary_granule(uint64_t granule)
{
    uint64_t i = dh_hash_multiply(granule) >> (64 - TRACKED_BITS);
    while (dh_adversarial_memory->tracked[i].schedule == dh_adversarial_memory->schedule &&
           dh_adversarial_memory->tracked[i].granule != granule)
        i = (i + 1) & ((1u << TRACKED_BITS) - 1);
    return &dh_adversarial_memory->tracked[i];
}

bool dh_adversary_is_tracked(uint64_t at, uint64_t size)
{
    if (at >= dh_adversarial_memory->bounds.high || at + size <= dh_adversarial_memory->bounds.low)
        return false;
    uint64_t from = at > dh_adversarial_memory->bounds.low ? at : dh_adversarial_memory->bounds.low;
    uint64_t to = at + size < dh_adversarial_memory->bounds.high ? at + size : dh_adversarial_memory->bounds.high;
    for (uint64_t g = from >> GRANULE_SHIFT; g <= (to - 1) >> GRANULE_SHIFT; g++)
        if (dh_adversary_granule(g)->schedule == dh_adversarial_memory->schedule)
            return true;
    return false;
}

static void mark_shared(struct dh_tracked_granule *t, uint32_t by)
{
    if (t->shared || t->first == by)
        return;
    t->shared = true;
    dh_engine->control->progress.shared++;
}

bool dh_adversary_track(uint64_t at, uint64_t size, uint32_t by)
{
    for (uint64_t g = at >> GRANULE_SHIFT; g <= (at + size - 1) >> GRANULE_SHIFT; g++) {
        struct dh_tracked_granule *t = dh_adversary_granule(g);
        uint8_t bytes = dh_adversary_bytes(g, at, size);
        if (t->schedule == dh_adversarial_memory->schedule) {
            mark_shared(t, by);
            t->mixed |= t->once & bytes && t->once != bytes;
            t->bytes |= bytes;
            continue;
        }
        if (dh_adversarial_memory->n_tracked >= 3u << (TRACKED_BITS - 2)) {
            dh_adversarial_memory->inexact = true;
            return false;
        }
        *t = (struct dh_tracked_granule){
            .granule = g, .schedule = dh_adversarial_memory->schedule, .first = by, .once = bytes, .bytes = bytes};
        dh_adversarial_memory->n_tracked++;
        if (dh_adversarial_memory->n_tracked > dh_engine->control->progress.locations)
            dh_engine->control->progress.locations = dh_adversarial_memory->n_tracked;
    }
    dh_adversarial_memory->bounds.low = at < dh_adversarial_memory->bounds.low ? at : dh_adversarial_memory->bounds.low;
    dh_adversarial_memory->bounds.high =
        at + size > dh_adversarial_memory->bounds.high ? at + size : dh_adversarial_memory->bounds.high;
    return true;
}

void dh_adversary_forget(uintptr_t at, size_t size)
{
    if (!dh_adversarial_memory || !size || at >= dh_adversarial_memory->bounds.high ||
        at + size <= dh_adversarial_memory->bounds.low)
        return;
    uintptr_t from = at > dh_adversarial_memory->bounds.low ? at : dh_adversarial_memory->bounds.low;
    uintptr_t to = at + size < dh_adversarial_memory->bounds.high ? at + size : dh_adversarial_memory->bounds.high;
    dh_adversarial_memory->model->forget(dh_adversarial_memory->self, from, to - from);
    dh_drains_update();
    for (uint64_t g = from >> GRANULE_SHIFT; g <= (to - 1) >> GRANULE_SHIFT && to - from <= FORGOTTEN_MOST; g++)
        dh_adversary_granule(g)->bytes &= (uint8_t)~dh_adversary_bytes(g, from, to - from);
}
