#include "memory/clocks.h"

#include "base/hash.h"

enum { OBJECT_BUCKETS = 64 };

struct dh_clocks_object {
    uint64_t key;
    struct dh_clocks_object *next;
    struct dh_hb_clock clock;
    uint32_t entries[];
};

bool dh_clocks_begin(struct dh_clocks *c, struct dh_run_arena *arena, uint32_t n, bool are_external)
{
    *c = (struct dh_clocks){.arena = arena, .n = n, .are_external = are_external};
    c->root = dh_run_arena_take(arena, sizeof *c->root);
    if (!c->root)
        return false;
    c->root->thread = dh_run_arena_take(arena, n * sizeof *c->root->thread);
    c->root->bucket = dh_run_arena_take(arena, OBJECT_BUCKETS * sizeof *c->root->bucket);
    return c->root->thread && c->root->bucket;
}

/* ---- threads and objects ---- */

/* Of n entries at `at`, all in use. */
static struct dh_hb_clock clock_at(const struct dh_clocks *c, uint32_t *at)
{
    return (struct dh_hb_clock){at, c->n, c->n};
}

static struct dh_thread_clocks *thread_at(struct dh_clocks *c, uint32_t thread)
{
    if (thread >= c->n)
        return NULL;
    struct dh_thread_clocks **t = &c->root->thread[thread];
    if (*t)
        return *t;
    *t = dh_run_arena_take(c->arena, sizeof **t + 3 * c->n * sizeof *(*t)->entries);
    if (!*t)
        return NULL;
    struct dh_hb_thread *hb = &(*t)->hb;
    hb->clock = clock_at(c, (*t)->entries);
    hb->release_fence = clock_at(c, (*t)->entries + c->n);
    hb->acquire_fence = clock_at(c, (*t)->entries + 2 * (size_t)c->n);
    dh_hb_thread_init(NULL, hb, thread, c->are_external ? 0 : 1);
    dh_vclock_widen(&hb->clock, c->n);
    if (thread >= c->root->threads)
        c->root->threads = thread + 1;
    return *t;
}

/* Where the clocks are not given. */
static struct dh_hb_thread *ordered_thread(struct dh_clocks *c, uint32_t thread)
{
    struct dh_thread_clocks *t = c->are_external ? NULL : thread_at(c, thread);
    return t ? &t->hb : NULL;
}

static struct dh_clocks_object *object_at(struct dh_clocks *c, uint64_t key, bool make)
{
    struct dh_clocks_object **o = &c->root->bucket[(dh_hash_multiply(key) >> 32) % OBJECT_BUCKETS];
    for (; *o; o = &(*o)->next)
        if ((*o)->key == key)
            return *o;
    if (!make)
        return NULL;
    *o = dh_run_arena_take(c->arena, sizeof **o + c->n * sizeof *(*o)->entries);
    if (*o) {
        (*o)->key = key;
        (*o)->clock = clock_at(c, (*o)->entries);
    }
    return *o;
}

uint32_t *dh_clocks_of(struct dh_clocks *c, uint32_t thread)
{
    struct dh_thread_clocks *t = thread_at(c, thread);
    return t ? t->hb.clock.at : NULL;
}

void dh_clocks_join_external(struct dh_clocks *c, uint32_t thread, const uint32_t *clock, uint32_t entries)
{
    uint32_t *now = dh_clocks_of(c, thread);
    if (now && clock)
        dh_entries_max(now, clock, entries < c->n ? entries : c->n);
}

void dh_clocks_tick(struct dh_clocks *c, uint32_t thread)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    if (t)
        dh_hb_tick(t);
}

/* ---- edges ---- */

void dh_clocks_fork(struct dh_clocks *c, uint32_t parent, uint32_t child)
{
    struct dh_thread_clocks *from = thread_at(c, parent), *to = thread_at(c, child);
    if (from && to)
        dh_hb_clock_join(NULL, &to->hb.clock, &from->hb.clock);
    if (to)
        to->has_ended = false; /* where a number is used again, the next thread goes on with what the one before knew */
    dh_clocks_tick(c, parent);
}

void dh_clocks_join(struct dh_clocks *c, uint32_t thread, uint32_t ended)
{
    struct dh_thread_clocks *to = thread_at(c, thread), *from = thread_at(c, ended);
    if (to && from)
        dh_hb_join(NULL, &to->hb, &from->hb);
    if (from)
        from->has_ended = true;
}

void dh_clocks_acquire(struct dh_clocks *c, uint32_t thread, uint64_t object)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    const struct dh_clocks_object *o = object_at(c, object, false);
    if (o && t)
        dh_hb_acquire(NULL, t, &o->clock);
}

void dh_clocks_release(struct dh_clocks *c, uint32_t thread, uint64_t object)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    struct dh_clocks_object *o = t ? object_at(c, object, true) : NULL;
    if (o)
        dh_hb_release_join(NULL, t, &o->clock);
}

void dh_clocks_fence(struct dh_clocks *c, uint32_t thread, enum dh_order order)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    if (t)
        dh_hb_fence(NULL, t, order);
}

bool dh_clocks_send(struct dh_clocks *c, uint32_t thread, enum dh_order order, uint32_t *message)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    struct dh_hb_clock clock = clock_at(c, message);
    return t && dh_hb_update(NULL, t, &clock, order);
}

void dh_clocks_receive(struct dh_clocks *c, uint32_t thread, enum dh_order order, uint32_t *message)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    struct dh_hb_clock clock = clock_at(c, message);
    if (t)
        dh_hb_load(NULL, t, &clock, order);
}

void dh_clocks_atomic(struct dh_clocks *c, uint32_t thread, uint64_t object, enum dh_order order, bool reads,
                      bool writes)
{
    struct dh_hb_thread *t = ordered_thread(c, thread);
    struct dh_clocks_object *o = t ? object_at(c, object, writes) : NULL;
    if (!o)
        return;
    if (reads)
        dh_hb_load(NULL, t, &o->clock, order);
    if (writes)
        (reads ? dh_hb_update : dh_hb_store)(NULL, t, &o->clock, order);
}
