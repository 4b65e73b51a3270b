#include "memory/clocks.h"

enum { OBJECT_BUCKETS = 64 };

struct dh_clock_object {
    uint64_t key;
    struct dh_clock_object *next;
    uint32_t at[];
};

void dh_clocks_merge(uint32_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

bool dh_clocks_begin(struct dh_clocks *c, struct dh_arena *arena, uint32_t n, bool are_given)
{
    *c = (struct dh_clocks){.arena = arena, .n = n, .are_given = are_given};
    c->root = dh_arena_take(arena, sizeof *c->root);
    if (!c->root)
        return false;
    c->root->thread = dh_arena_take(arena, n * sizeof *c->root->thread);
    c->root->bucket = dh_arena_take(arena, OBJECT_BUCKETS * sizeof *c->root->bucket);
    return c->root->thread && c->root->bucket;
}

static struct dh_thread_clocks *thread_of(struct dh_clocks *c, uint32_t thread)
{
    if (thread >= c->n)
        return NULL;
    struct dh_thread_clocks **t = &c->root->thread[thread];
    if (*t)
        return *t;
    *t = dh_arena_take(c->arena, sizeof **t + 3 * c->n * sizeof *(*t)->at);
    if (*t && !c->are_given)
        (*t)->at[thread] = 1;
    if (*t && thread >= c->root->threads)
        c->root->threads = thread + 1;
    return *t;
}

uint32_t *dh_clocks_of(struct dh_clocks *c, uint32_t thread)
{
    struct dh_thread_clocks *t = thread_of(c, thread);
    return t ? t->at : NULL;
}

void dh_clocks_give(struct dh_clocks *c, uint32_t thread, const uint32_t *clock, uint32_t entries)
{
    uint32_t *now = dh_clocks_of(c, thread);
    if (now && clock)
        dh_clocks_merge(now, clock, entries < c->n ? entries : c->n);
}

void dh_clocks_tick(struct dh_clocks *c, uint32_t thread)
{
    uint32_t *now = dh_clocks_of(c, thread);
    if (now && !c->are_given)
        now[thread]++;
}

void dh_clocks_fork(struct dh_clocks *c, uint32_t parent, uint32_t child)
{
    uint32_t *from = dh_clocks_of(c, parent), *to = dh_clocks_of(c, child);
    if (from && to)
        dh_clocks_merge(to, from, c->n);
    if (to)
        thread_of(c, child)->has_ended = false; /* where a number is used again, the next goes on with what it knew */
    dh_clocks_tick(c, parent);
}

void dh_clocks_join(struct dh_clocks *c, uint32_t thread, uint32_t ended)
{
    uint32_t *to = dh_clocks_of(c, thread);
    struct dh_thread_clocks *from = thread_of(c, ended);
    if (to && from)
        dh_clocks_merge(to, from->at, c->n);
    if (from)
        from->has_ended = true;
}

static struct dh_clock_object *object_of(struct dh_clocks *c, uint64_t key, bool make)
{
    struct dh_clock_object **o = &c->root->bucket[(key * 0x9E3779B97F4A7C15u >> 32) % OBJECT_BUCKETS];
    for (; *o; o = &(*o)->next)
        if ((*o)->key == key)
            return *o;
    if (!make)
        return NULL;
    *o = dh_arena_take(c->arena, sizeof **o + c->n * sizeof *(*o)->at);
    if (*o)
        (*o)->key = key;
    return *o;
}

void dh_clocks_acquire(struct dh_clocks *c, uint32_t thread, uint64_t object)
{
    struct dh_clock_object *o = object_of(c, object, false);
    uint32_t *now = dh_clocks_of(c, thread);
    if (o && now && !c->are_given)
        dh_clocks_merge(now, o->at, c->n);
}

void dh_clocks_release(struct dh_clocks *c, uint32_t thread, uint64_t object)
{
    struct dh_clock_object *o = c->are_given ? NULL : object_of(c, object, true);
    uint32_t *now = dh_clocks_of(c, thread);
    if (o && now)
        dh_clocks_merge(o->at, now, c->n);
    dh_clocks_tick(c, thread);
}

void dh_clocks_fence(struct dh_clocks *c, uint32_t thread, enum dh_order order)
{
    struct dh_thread_clocks *t = thread_of(c, thread);
    if (!t || c->are_given)
        return;
    if (dh_order_acquires(order))
        dh_clocks_merge(t->at, t->at + 2 * c->n, c->n);
    if (!dh_order_releases(order))
        return;
    t->has_release_fence = true;
    for (uint32_t i = 0; i < c->n; i++)
        t->at[c->n + i] = t->at[i];
    dh_clocks_tick(c, thread);
}

bool dh_clocks_send(struct dh_clocks *c, uint32_t thread, enum dh_order order, uint32_t *message)
{
    struct dh_thread_clocks *t = thread_of(c, thread);
    bool releases = dh_order_releases(order);
    if (!t || c->are_given || order == DH_ORDER_NONE || (!releases && !t->has_release_fence))
        return false;
    dh_clocks_merge(message, releases ? t->at : t->at + c->n, c->n);
    if (releases)
        dh_clocks_tick(c, thread);
    return true;
}

void dh_clocks_receive(struct dh_clocks *c, uint32_t thread, enum dh_order order, const uint32_t *message)
{
    uint32_t *now = dh_clocks_of(c, thread);
    if (!now || c->are_given || order == DH_ORDER_NONE)
        return;
    dh_clocks_merge(dh_order_acquires(order) ? now : now + 2 * c->n, message, c->n);
}

void dh_clocks_atomic(struct dh_clocks *c, uint32_t thread, uint64_t object, enum dh_order order, bool reads,
                      bool writes)
{
    struct dh_clock_object *o = c->are_given ? NULL : object_of(c, object, writes);
    if (!o)
        return;
    if (reads)
        dh_clocks_receive(c, thread, order, o->at);
    for (uint32_t i = 0; writes && !reads && i < c->n; i++)
        o->at[i] = 0;
    if (writes)
        dh_clocks_send(c, thread, order, o->at);
}
