/* The progressive happens-before model of 004 (§4, Fig. 6): a load answers any earlier write that no later one hides,
 * one that follows it and precedes the load in happens-before. GC1, GC2 and REMOVE OLDEST are from the prose of
 * §4.1. There is no coherence: a thread may see a new value and then an old one again.
 * Atomics, which the paper leaves to Java's volatile: those of seq_cst are volatile (they see the newest); of weaker
 * orders a load answers what a plain one may; what a write releases an acquiring load that took it knows. */
#include "memory/hb.h"

static bool precedes(const struct dh_memory_write *w, const uint32_t *clock)
{
    return w->thread == DH_MEMORY_INITIAL || w->epoch <= clock[w->thread];
}

/* Does a later write j lie between i and a thread with this clock: K_i <= K_j <= C? */
static bool is_hidden(const struct dh_location *at, uint32_t i, const uint32_t *clock)
{
    for (uint32_t j = at->count - 1; j > i; j--)
        if (precedes(at->write[j], clock) && precedes(at->write[i], at->write[j]->clocks))
            return true;
    return false;
}

void dh_hb_model_begin(void *self)
{
    struct dh_hb_model *h = self;
    struct dh_memory *m = h->locations.arena.memory;
    dh_locations_begin(&h->locations);
    dh_clocks_begin(&h->clocks, &h->locations.arena, m->threads, m->external_clocks);
    dh_clocks_of(&h->clocks, 0);
}

bool dh_hb_model_init(struct dh_hb_model *h, struct dh_memory *memory)
{
    uint32_t history = memory->history ? memory->history : DH_MEMORY_HISTORY;
    dh_locations_init(&h->locations, memory, history + 1, 2 * memory->threads);
    dh_hb_model_begin(h);
    return h->locations.root && h->clocks.root && h->clocks.root->bucket;
}

static void *start(struct dh_memory *memory)
{
    struct dh_hb_model *h = memory->memory(memory, sizeof *h);
    return h && dh_hb_model_init(h, memory) ? h : NULL;
}

void dh_hb_model_fork(void *self, uint32_t parent, uint32_t child)
{
    dh_clocks_fork(&((struct dh_hb_model *)self)->clocks, parent, child);
}

void dh_hb_model_join(void *self, uint32_t thread, uint32_t ended)
{
    dh_clocks_join(&((struct dh_hb_model *)self)->clocks, thread, ended);
}

void dh_hb_model_acquire(void *self, uint32_t thread, uint64_t object)
{
    dh_clocks_acquire(&((struct dh_hb_model *)self)->clocks, thread, object);
}

void dh_hb_model_release(void *self, uint32_t thread, uint64_t object)
{
    dh_clocks_release(&((struct dh_hb_model *)self)->clocks, thread, object);
}

void dh_hb_model_atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes)
{
    dh_clocks_atomic(&((struct dh_hb_model *)self)->clocks, thread, object, order, reads, writes);
}

void dh_hb_model_fence(void *self, uint32_t thread, enum dh_order order)
{
    dh_clocks_fence(&((struct dh_hb_model *)self)->clocks, thread, order);
}

static uint32_t *clock_for(struct dh_hb_model *h, const struct dh_memory_access *a)
{
    dh_clocks_join_external(&h->clocks, a->thread, a->clock, a->clocks);
    return dh_clocks_of(&h->clocks, a->thread);
}

unsigned dh_hb_model_load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room)
{
    struct dh_hb_model *h = self;
    struct dh_location *at = dh_location_get(&h->locations, a->address, a->size);
    const uint32_t *clock = clock_for(h, a);
    if (!at || !clock || a->updates || a->order == DH_ORDER_SEQ_CST)
        return dh_model_load_newest(&h->locations, a, out, room);
    unsigned n = 0;
    for (uint32_t i = at->count; i-- > 0 && n < room;)
        if (!is_hidden(at, i, clock))
            out[n++] = dh_candidate_of(at->write[i], i);
    return n;
}

void dh_hb_model_took(void *self, const struct dh_memory_access *a, unsigned index)
{
    struct dh_hb_model *h = self;
    struct dh_location *at = dh_location_find(&h->locations, a->address, a->size);
    if (at && index < at->count && at->write[index]->has_message)
        dh_clocks_receive(&h->clocks, a->thread, a->order, at->write[index]->clocks + h->clocks.n);
}

/* ---- forgetting writes ---- */

/* GC1: hidden from every thread there is. One to come knows what its parent knows, and clocks only rise. */
static bool is_hidden_from_all(const struct dh_hb_model *h, const struct dh_location *at, uint32_t i)
{
    const struct dh_clocks_root *r = h->clocks.root;
    for (uint32_t t = 0; t < r->threads; t++)
        if (r->thread[t] && !r->thread[t]->has_ended && !is_hidden(at, i, r->thread[t]->hb.clock.at))
            return false;
    return true;
}

/* GC2: its thread wrote the same again before it synchronised with anyone. */
static bool is_repeated(const struct dh_hb_model *h, const struct dh_location *at, uint32_t i)
{
    const struct dh_memory_write *old = at->write[i], *new = dh_location_newest(at);
    if (old->thread != new->thread || old->value != new->value || !old->is_plain || !new->is_plain)
        return false;
    for (uint32_t c = 0; c < h->clocks.n; c++)
        if (old->clocks[c] != new->clocks[c])
            return false;
    return true;
}

/* The newest has just come: what it hides, what it repeats, and in the end what is oldest. */
static void collect(struct dh_hb_model *h, struct dh_location *at)
{
    struct dh_memory *m = h->locations.arena.memory;
    for (uint32_t i = at->count - 1; !m->no_gc && i-- > 0;)
        if (is_repeated(h, at, i) || is_hidden_from_all(h, at, i))
            dh_location_drop(&h->locations, at, i);
    if (at->count == h->locations.history) {
        m->lost.removed++;
        dh_location_drop(&h->locations, at, 0);
    }
}

static void note_kept(struct dh_memory_kept *k, const struct dh_location *at)
{
    k->stores++;
    k->most = at->count > k->most ? at->count : k->most;
    k->written = at->pushed + 1 > k->written ? at->pushed + 1 : k->written;
}

/* `read` is the write whose release sequence an update goes on with; NULL: a store begins another one. */
static void write(struct dh_hb_model *h, const struct dh_memory_access *a, uint64_t value,
                  const struct dh_memory_write *read)
{
    struct dh_location *at = dh_location_get(&h->locations, a->address, a->size);
    const uint32_t *clock = clock_for(h, a);
    uint32_t n = h->clocks.n;
    struct dh_memory_write *w = at && clock ? dh_location_push(&h->locations, at, a, value) : NULL;
    if (!w) {
        dh_model_store_untracked(&h->locations, a, value);
        return;
    }
    dh_entries_max(w->clocks, clock, n);
    w->epoch = clock[a->thread];
    if (read && read->has_message) {
        w->has_message = true;
        dh_entries_max(w->clocks + n, read->clocks + n, n);
    }
    w->has_message |= dh_clocks_send(&h->clocks, a->thread, a->order, w->clocks + n);
    collect(h, at);
    note_kept(&h->locations.arena.memory->kept, at);
    h->locations.arena.memory->poke(h->locations.arena.memory, a->address, a->size, value);
}

void dh_hb_model_store(void *self, const struct dh_memory_access *a, uint64_t value)
{
    write(self, a, value, NULL);
}

void dh_hb_model_update(void *self, const struct dh_memory_access *a, unsigned index, uint64_t value)
{
    struct dh_hb_model *h = self;
    dh_hb_model_took(self, a, index);
    struct dh_location *at = dh_location_find(&h->locations, a->address, a->size);
    write(h, a, value, at && index < at->count ? at->write[index] : NULL);
}

const struct dh_memory_model dh_memory_hb = {
    .name = "hb",
    .summary = "any earlier write that no other hides by happens-before",
    .start = start,
    .begin = dh_hb_model_begin,
    .fork = dh_hb_model_fork,
    .join = dh_hb_model_join,
    .acquire = dh_hb_model_acquire,
    .release = dh_hb_model_release,
    .atomic = dh_hb_model_atomic,
    .load = dh_hb_model_load,
    .took = dh_hb_model_took,
    .store = dh_hb_model_store,
    .update = dh_hb_model_update,
    .fence = dh_hb_model_fence,
    DH_MODEL_OF_LOCATIONS,
};
