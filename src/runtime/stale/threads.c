/* Threads of adversarial memory: slots of the model, clocks at creation and exit. */
#include "runtime/stale/state.h"

#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"

struct dh_stale_registry dh_stale_registry = {.lock = DH_SPIN_INIT(DH_RANK_STALE_SLOTS)};

struct dh_stale_thread_birth {
    uint32_t slot, index;
    struct dh_clock clock;
};

/* ---- slots ---- */

/* A free slot, the one free for longest; else the one with the fewest threads. */
static uint32_t find_slot(void)
{
    const struct dh_stale_registry *r = &dh_stale_registry;
    uint32_t best = 0;
    for (uint32_t i = 1; i < r->slots; i++) {
        const struct dh_stale_slot *a = &r->slot[i], *b = &r->slot[best];
        if (a->users < b->users || (a->users == b->users && a->generation < b->generation))
            best = i;
    }
    return best;
}

/* `clock` is what the thread begins with; its own entry is new. */
static uint32_t acquire_slot(struct dh_clock *clock)
{
    struct dh_stale_registry *r = &dh_stale_registry;
    dh_spin_lock(&r->lock);
    uint32_t i = find_slot();
    struct dh_stale_slot *slot = &r->slot[i];
    slot->last = slot->last > dh_vclock_get(clock, i) ? slot->last : dh_vclock_get(clock, i);
    dh_vclock_set(clock, i, ++slot->last);
    slot->users++;
    dh_vclock_copy(&slot->birth, clock);
    slot->generation = r->generation + 1;
    atomic_store_explicit(&r->generation, slot->generation, memory_order_release);
    dh_spin_unlock(&r->lock);
    return i;
}

static void release_slot(uint32_t i, uint32_t last)
{
    struct dh_stale_registry *r = &dh_stale_registry;
    dh_spin_lock(&r->lock);
    struct dh_stale_slot *slot = &r->slot[i];
    slot->users--;
    slot->last = slot->last > last ? slot->last : last;
    slot->generation = r->generation + 1;
    atomic_store_explicit(&r->generation, slot->generation, memory_order_release);
    dh_spin_unlock(&r->lock);
}

/* ---- threads ---- */

static uint64_t creation_of(uint32_t index)
{
    return (uint64_t)1 << 62 | index;
}

static struct dh_stale_thread *new_thread(uint32_t slot, uint32_t index, const struct dh_clock *clock)
{
    struct dh_stale_thread *t = dh_alloc(sizeof *t);
    if (!t)
        return NULL;
    dh_bytes_zero(t, sizeof *t);
    t->slot = slot;
    t->index = index;
    dh_vclock_copy(&t->clock, clock);
    t->counts = &dh_stale_control->lanes[index % DH_STALE_LANES];
    atomic_fetch_add_explicit(&dh_stale_control->threads, 1, memory_order_relaxed);
    return t;
}

struct dh_stale_thread_birth *dh_stale_thread_create(uint32_t index)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    struct dh_stale_thread_birth *b = t ? dh_alloc(sizeof *b) : NULL;
    if (!b)
        return NULL;
    dh_stale_activate();
    b->index = index;
    dh_vclock_copy(&b->clock, &t->clock);
    dh_stale_log(t->index, DH_STALE_LOG_RELEASE, creation_of(index), 0, 0);
    dh_stale_tick(t);
    b->slot = acquire_slot(&b->clock);
    return b;
}

void dh_stale_thread_abandon(struct dh_stale_thread_birth *b)
{
    if (!b)
        return;
    release_slot(b->slot, 0);
    dh_free(b, sizeof *b);
}

void dh_stale_thread_begin(struct dh_stale_thread_birth *b)
{
    if (!b)
        return;
    struct dh_stale_thread *t = new_thread(b->slot, b->index, &b->clock);
    if (t)
        dh_stale_log(t->index, DH_STALE_LOG_ACQUIRE, creation_of(b->index), 0, 0);
    else
        release_slot(b->slot, 0);
    __atomic_store_n(&__dh_thread.stale, t, __ATOMIC_RELEASE);
    dh_stale_serve_every_site();
    dh_free(b, sizeof *b);
}

void dh_stale_thread_end(const void *object)
{
    struct dh_stale_thread *t = __dh_thread.stale;
    if (!t)
        return;
    dh_stale_hb_edge(object, DH_STALE_RELEASE);
    __atomic_store_n(&__dh_thread.stale, NULL, __ATOMIC_RELEASE);
    release_slot(t->slot, t->clock.at[t->slot]);
    dh_free(t, sizeof *t);
}

void dh_stale_threads_start(uint32_t slots)
{
    struct dh_clock nothing = {0};
    dh_stale_registry.slots = slots < DH_STALE_SLOTS_MOST ? slots : DH_STALE_SLOTS_MOST;
    uint32_t slot = acquire_slot(&nothing);
    __dh_thread.stale = new_thread(slot, 0, &nothing);
}

/* Only the calling thread is left. */
void dh_stale_threads_forked(void)
{
    struct dh_stale_registry *r = &dh_stale_registry;
    const struct dh_stale_thread *t = __dh_thread.stale;
    dh_spin_forked(&r->lock);
    uint32_t generation = r->generation + 1;
    for (uint32_t i = 0; i < r->slots; i++)
        if (r->slot[i].users) {
            r->slot[i].users = t && t->slot == i;
            r->slot[i].generation = generation;
        }
    atomic_store_explicit(&r->generation, generation, memory_order_release);
    if (t && r->slot[t->slot].users)
        dh_vclock_copy(&r->slot[t->slot].birth, &t->clock);
}
