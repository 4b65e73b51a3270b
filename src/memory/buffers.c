/* A list of stores for each thread; stores leave it as drains, or all at once where a fence or a change of locations
 * demands it. */
#include "memory/buffers.h"

enum { STORES_MAX = 64 }; /* in one buffer; processors have room for about as many */

struct buffered_store {
    struct buffered_store *next;
    struct dh_memory_access access;
    uint64_t value;
    uint32_t sequence;
    uint32_t group;     /* store barriers before it; under tso one is before each store */
    bool waits_for_all; /* of earlier ones: a release store */
};

struct buffers {
    struct dh_locations locations; /* first: location_model.h */
    bool is_pso;
    struct root {
        struct buffered_store *unused;
        struct buffer {
            struct buffered_store *first;
            uint32_t count, group;
        } of[];
    } *root;
};

void dh_buffers_begin(void *self)
{
    struct buffers *b = self;
    dh_locations_begin(&b->locations);
    b->root = dh_run_arena_take(&b->locations.arena,
                                sizeof *b->root + b->locations.arena.memory->threads * sizeof *b->root->of);
}

void *dh_buffers_start(struct dh_memory *memory, bool is_pso)
{
    struct buffers *b = memory->memory(memory, sizeof *b);
    if (!b)
        return NULL;
    b->is_pso = is_pso;
    dh_locations_init(&b->locations, memory, 2, 0);
    dh_buffers_begin(b);
    return b->root ? b : NULL;
}

static struct buffer *buffer_of(struct buffers *b, uint32_t thread)
{
    return thread < b->locations.arena.memory->threads ? &b->root->of[thread] : NULL;
}

/* ---- leaving the buffer ---- */

static void write_to_memory(struct buffers *b, const struct dh_memory_access *a, uint64_t value, uint32_t sequence)
{
    struct dh_memory *m = b->locations.arena.memory;
    struct dh_location *at = dh_location_get(&b->locations, a->address, a->size);
    struct dh_memory_write *w = at ? dh_location_push(&b->locations, at, a, value) : NULL;
    if (!w) {
        dh_model_store_untracked(&b->locations, a, value);
        return;
    }
    w->sequence = sequence;
    dh_location_drop(&b->locations, at, 0);
    m->poke(m, a->address, a->size, value);
}

static void drop_store(struct buffers *b, struct buffer *of, struct buffered_store **link)
{
    struct buffered_store *w = *link;
    *link = w->next;
    w->next = b->root->unused;
    b->root->unused = w;
    of->count--;
}

static void drain_store(struct buffers *b, struct buffer *of, struct buffered_store **link)
{
    struct buffered_store w = **link;
    drop_store(b, of, link);
    write_to_memory(b, &w.access, w.value, w.sequence);
}

static void flush(struct buffers *b, uint32_t thread)
{
    struct buffer *of = buffer_of(b, thread);
    while (of && of->first)
        drain_store(b, of, &of->first);
}

void dh_buffers_flush(void *self, uint32_t thread, uint64_t object)
{
    (void)object;
    flush(self, thread);
}

/* A write at once must not overtake the stores that wait. */
void dh_buffers_atomic(void *self, uint32_t thread, uint64_t object, enum dh_order order, bool reads, bool writes)
{
    (void)object;
    if (writes && (!((struct buffers *)self)->is_pso || reads || order >= DH_ORDER_RELEASE))
        flush(self, thread);
}

void dh_buffers_fork(void *self, uint32_t parent, uint32_t child)
{
    (void)child;
    flush(self, parent);
}

void dh_buffers_join(void *self, uint32_t thread, uint32_t ended)
{
    flush(self, ended);
    flush(self, thread);
}

/* ---- accesses ---- */

/* A store that waits is of a whole location: before locations are split or joined all stores leave. */
static void flush_all_threads(struct buffers *b)
{
    struct dh_memory *m = b->locations.arena.memory;
    for (uint32_t t = 0; t < m->threads; t++) {
        m->lost.narrowed += b->root->of[t].first != NULL;
        flush(b, t);
    }
}

unsigned dh_buffers_pieces(void *self, uint64_t address, uint64_t size, struct dh_access_piece *out, unsigned room)
{
    struct buffers *b = self;
    if (dh_locations_would_split(&b->locations, address, size))
        flush_all_threads(b);
    return dh_locations_pieces(&b->locations, address, size, out, room);
}

/* A thread sees its own stores first. */
unsigned dh_buffers_load(void *self, const struct dh_memory_access *a, struct dh_candidate *out, unsigned room)
{
    struct buffers *b = self;
    struct buffer *of = buffer_of(b, a->thread);
    const struct buffered_store *own = NULL;
    if (dh_locations_differ(&b->locations, a->address, a->size))
        flush_all_threads(b);
    for (const struct buffered_store *w = of ? of->first : NULL; w; w = w->next)
        if (w->access.address == a->address && w->access.size == a->size)
            own = w;
    if (!own || !room)
        return dh_model_load_newest(&b->locations, a, out, room);
    out[0] = (struct dh_candidate){.value = own->value,
                                   .thread = a->thread,
                                   .site = own->access.site,
                                   .occurrence = own->access.occurrence,
                                   .sequence = own->sequence};
    return 1;
}

static struct buffered_store *take_store_record(struct buffers *b)
{
    struct buffered_store *w = b->root->unused;
    if (!w)
        return dh_run_arena_take(&b->locations.arena, sizeof *w);
    b->root->unused = w->next;
    return w;
}

static bool buffer_store(struct buffers *b, struct buffer *of, const struct dh_memory_access *a, uint64_t value)
{
    struct buffered_store *w = take_store_record(b), **link = &of->first;
    if (!w || !dh_location_get(&b->locations, a->address, a->size))
        return false;
    *w = (struct buffered_store){.access = *a,
                                 .value = value,
                                 .sequence = ++b->locations.root->sequence,
                                 .group = of->group,
                                 .waits_for_all = a->order >= DH_ORDER_RELEASE};
    while (*link)
        link = &(*link)->next;
    *link = w;
    of->count++;
    return true;
}

/* A seq_cst store is followed by a full fence, as compilers do; a release store comes after all before it. */
void dh_buffers_store(void *self, const struct dh_memory_access *a, uint64_t value)
{
    struct buffers *b = self;
    struct buffer *of = buffer_of(b, a->thread);
    if (dh_locations_differ(&b->locations, a->address, a->size))
        flush_all_threads(b);
    if (of)
        of->group += !b->is_pso;
    if (!of || !buffer_store(b, of, a, value)) {
        flush(b, a->thread);
        write_to_memory(b, a, value, ++b->locations.root->sequence);
        return;
    }
    if (a->order == DH_ORDER_SEQ_CST)
        flush(b, a->thread);
    while (of->count > STORES_MAX) {
        b->locations.arena.memory->lost.removed++;
        drain_store(b, of, &of->first);
    }
}

void dh_buffers_update(void *self, const struct dh_memory_access *a, unsigned index, uint64_t value)
{
    struct buffers *b = self;
    (void)index;
    if (dh_locations_differ(&b->locations, a->address, a->size))
        flush_all_threads(b);
    flush(b, a->thread);
    write_to_memory(b, a, value, ++b->locations.root->sequence);
}

void dh_buffers_fence(void *self, uint32_t thread, enum dh_order order)
{
    struct buffer *of = buffer_of(self, thread);
    if (order == DH_ORDER_SEQ_CST)
        flush(self, thread);
    else if (of)
        of->group += order >= DH_ORDER_RELEASE;
}

/* ---- drains ---- */

/* No store of the same location, and under pso no earlier group, waits before it; before a release store, and under
 * tso, nothing does. */
static bool may_drain(const struct buffers *b, const struct buffer *of, const struct buffered_store *w)
{
    if (!b->is_pso || w->waits_for_all)
        return w == of->first;
    for (const struct buffered_store *e = of->first; e != w; e = e->next)
        if (e->group != w->group || e->access.address == w->access.address)
            return false;
    return true;
}

static unsigned insert_by_address(struct dh_memory_drain *list, unsigned n, struct dh_memory_drain step)
{
    unsigned i = n;
    for (; i && list[i - 1].address > step.address; i--)
        list[i] = list[i - 1];
    list[i] = step;
    return n + 1;
}

unsigned dh_buffers_enabled_drains(void *self, struct dh_memory_drain *out, unsigned room)
{
    struct buffers *b = self;
    unsigned n = 0;
    for (uint32_t t = 0; t < b->locations.arena.memory->threads; t++) {
        const struct buffer *of = &b->root->of[t];
        unsigned first = n;
        for (const struct buffered_store *w = of->first; w && n < room; w = w->next)
            if (may_drain(b, of, w))
                n = first + insert_by_address(out + first, n - first,
                                              (struct dh_memory_drain){.thread = t,
                                                                       .site = w->access.site,
                                                                       .occurrence = w->access.occurrence,
                                                                       .sequence = w->sequence,
                                                                       .group = w->group,
                                                                       .waits_for_all = w->waits_for_all,
                                                                       .size = w->access.size,
                                                                       .address = w->access.address,
                                                                       .value = w->value});
    }
    return n;
}

void dh_buffers_drain(void *self, const struct dh_memory_drain *step)
{
    struct buffers *b = self;
    struct buffer *of = buffer_of(b, step->thread);
    for (struct buffered_store **w = of ? &of->first : NULL; w && *w; w = &(*w)->next)
        if ((*w)->access.address == step->address && may_drain(b, of, *w)) {
            drain_store(b, of, w);
            return;
        }
}

bool dh_buffers_waiting(void *self, const struct dh_memory_access *a, struct dh_candidate *out)
{
    struct buffers *b = self;
    const struct buffered_store *last = NULL;
    for (uint32_t t = 0; t < b->locations.arena.memory->threads; t++)
        for (const struct buffered_store *w = t == a->thread ? NULL : b->root->of[t].first; w; w = w->next)
            if (w->access.address == a->address && w->access.size == a->size && (!last || last->sequence < w->sequence))
                last = w;
    if (last)
        *out = (struct dh_candidate){.value = last->value,
                                     .thread = last->access.thread,
                                     .site = last->access.site,
                                     .occurrence = last->access.occurrence,
                                     .sequence = last->sequence};
    return last;
}

void dh_buffers_forget(void *self, uint64_t address, uint64_t size)
{
    struct buffers *b = self;
    for (uint32_t t = 0; t < b->locations.arena.memory->threads; t++)
        for (struct buffered_store **w = &b->root->of[t].first; *w;) {
            const struct dh_memory_access *a = &(*w)->access;
            if (a->address < address + size && address < a->address + a->size)
                drop_store(b, &b->root->of[t], w);
            else
                w = &(*w)->next;
        }
    dh_locations_forget(&b->locations, address, size);
}
