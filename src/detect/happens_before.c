#include "detect/happens_before.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/vec.h"
#include "detect/run_state.h"
#include "event/happens_before.h"
#include "event/site.h"

#include <stdlib.h>

struct held {
    uint64_t lock;
    uint32_t depth;
    bool shared;
};

/* A slot is a thread's entry in the clocks. A joined thread's slot is reused for a thread whose creator knows all that
 * the joined one did: a clock that knows an epoch of the new thread then knows every one of the old, so epochs of the
 * slot may go on rising. */
struct thread {
    struct dh_hb_thread hb; /* its clock is empty until the thread does something, and again when it was joined */
    uint32_t epoch;         /* while its clock is empty */
    bool joined;
    DH_VEC(struct held) held;
};

/* Objects are removed by range: those of 256 bytes share a bucket, which no map of base/map.h does. */
struct object {
    struct object *next; /* of the bucket */
    uint64_t addr;
    uint32_t size; /* of the widest atomic store */
    struct dh_hb_object hb;
    struct dh_hb_clock condition; /* of signals */
};

enum { BUCKET_SHIFT = 8 };

struct slot {
    uint32_t last; /* epoch of the last thread that was joined */
};

struct dh_happens {
    unsigned edges;
    DH_VEC(struct thread *) threads;
    DH_VEC(struct slot) slots;
    DH_VEC(uint32_t) unused_slots; /* of threads that were joined */
    struct object **buckets;
    size_t n_objects, n_buckets;
};

/* ---- clocks ---- */

/* No more than is needed: there are many objects. */
static bool grow_clock(struct dh_hb_memory *m, struct dh_hb_clock *c, uint32_t n)
{
    (void)m;
    c->at = dh_xrealloc(c->at, n, sizeof *c->at);
    c->room = n;
    return true;
}

static struct dh_hb_memory heap = {grow_clock};

static void clock_release(struct dh_hb_clock *c)
{
    free(c->at);
    *c = (struct dh_hb_clock){0};
}

/* ---- threads ---- */

/* One whose last thread did nothing that `creator` does not know; or a new one. */
static uint32_t take_slot(struct dh_happens *h, const struct dh_hb_clock *creator)
{
    for (size_t i = h->unused_slots.n; creator && i-- > 0;) {
        uint32_t slot = h->unused_slots.at[i];
        if (dh_vclock_get(creator, slot) < h->slots.at[slot].last)
            continue;
        h->unused_slots.at[i] = h->unused_slots.at[--h->unused_slots.n];
        return slot;
    }
    dh_vec_push(&h->slots, (struct slot){0});
    return (uint32_t)h->slots.n - 1;
}

static struct thread *thread_made(struct dh_happens *h, uint32_t index, const struct dh_hb_clock *creator)
{
    if (index >= DH_RUN_THREADS_MAX)
        return NULL;
    while (h->threads.n <= index)
        dh_vec_push(&h->threads, NULL);
    if (!h->threads.at[index]) {
        struct thread *t = DH_NEW(struct thread);
        t->hb.slot = take_slot(h, creator);
        t->epoch = h->slots.at[t->hb.slot].last + 1;
        h->threads.at[index] = t;
    }
    return h->threads.at[index];
}

static struct thread *thread_of(struct dh_happens *h, uint32_t index)
{
    struct thread *t = thread_made(h, index, NULL);
    if (t && !t->hb.clock.n)
        dh_hb_thread_init(&heap, &t->hb, t->hb.slot, t->epoch);
    return t;
}

static void thread_create(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    if (e->arg >= DH_RUN_THREADS_MAX || e->arg == e->thread)
        return;
    thread_made(h, (uint32_t)e->arg, &t->hb.clock);
    dh_hb_fork(&heap, &t->hb, &thread_of(h, (uint32_t)e->arg)->hb);
}

static void thread_forget(struct thread *t)
{
    clock_release(&t->hb.clock);
    clock_release(&t->hb.release_fence);
    clock_release(&t->hb.acquire_fence);
    dh_vec_release(&t->held);
}

static void thread_join(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    struct thread *child = e->arg == e->thread || e->arg >= h->threads.n ? NULL : h->threads.at[e->arg];
    if (!child || child->joined)
        return;
    /* All it did, also after its end event: destructors of thread-local data. */
    dh_hb_join(&heap, &t->hb, &thread_of(h, (uint32_t)e->arg)->hb);
    h->slots.at[child->hb.slot].last = child->epoch = dh_hb_epoch(&child->hb);
    child->joined = true;
    thread_forget(child);
    dh_vec_push(&h->unused_slots, child->hb.slot);
}

/* ---- objects ---- */

static size_t bucket_of(const struct dh_happens *h, uint64_t addr)
{
    return dh_hash_multiply(addr >> BUCKET_SHIFT) >> 24 & (h->n_buckets - 1);
}

static void more_buckets(struct dh_happens *h)
{
    struct object **old = h->buckets;
    size_t n = h->n_buckets;
    h->n_buckets = n ? 2 * n : 256;
    h->buckets = dh_xcalloc(h->n_buckets, sizeof(struct object *));
    for (size_t i = 0; i < n; i++)
        for (struct object *o = old[i], *next; o; o = next) {
            struct object **at = &h->buckets[bucket_of(h, o->addr)];
            next = o->next;
            o->next = *at;
            *at = o;
        }
    free(old);
}

static struct object *object_find(const struct dh_happens *h, uint64_t addr)
{
    struct object *o = h->n_buckets ? h->buckets[bucket_of(h, addr)] : NULL;
    while (o && o->addr != addr)
        o = o->next;
    return o;
}

static struct object *object_at(struct dh_happens *h, uint64_t addr)
{
    struct object *o = object_find(h, addr);
    if (o)
        return o;
    if (h->n_objects >= h->n_buckets)
        more_buckets(h);
    struct object **at = &h->buckets[bucket_of(h, addr)];
    o = DH_NEW(struct object);
    o->addr = addr;
    o->next = *at;
    *at = o;
    h->n_objects++;
    return o;
}

static void object_free(struct object *o)
{
    clock_release(&o->hb.clock);
    clock_release(&o->hb.readers);
    clock_release(&o->condition);
    free(o);
}

static void clean_bucket(struct dh_happens *h, size_t bucket, uint64_t addr, uint64_t size)
{
    for (struct object **at = &h->buckets[bucket]; *at;) {
        struct object *o = *at;
        if (o->addr - addr >= size) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        object_free(o);
        h->n_objects--;
    }
}

static void forget(struct dh_happens *h, uint64_t addr, uint64_t size)
{
    if (!h->n_objects || !size)
        return;
    uint64_t first = addr >> BUCKET_SHIFT, last = (addr + size - 1) >> BUCKET_SHIFT;
    if (last - first >= h->n_buckets) {
        for (size_t i = 0; i < h->n_buckets; i++)
            clean_bucket(h, i, addr, size);
        return;
    }
    for (uint64_t i = first; i <= last; i++)
        clean_bucket(h, bucket_of(h, i << BUCKET_SHIFT), addr, size);
}

static void memory(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    (void)t;
    forget(h, e->addr, e->arg);
}

static void forget_one(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    (void)t;
    forget(h, e->addr, 1);
}

/* ---- locks and conditions ---- */

static struct held *find_held(struct thread *t, uint64_t lock)
{
    for (size_t i = t->held.n; i-- > 0;)
        if (t->held.at[i].lock == lock)
            return &t->held.at[i];
    return NULL;
}

static void lock(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    struct held *held = find_held(t, e->addr);
    if (held) {
        held->depth++;
        return;
    }
    bool shared = e->flags & DH_EVENT_SHARED;
    const struct object *o = object_find(h, e->addr);
    if (o)
        dh_hb_lock(&heap, &t->hb, &o->hb, shared);
    dh_vec_push(&t->held, (struct held){e->addr, 1, shared});
}

static void unlock(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    struct held *held = find_held(t, e->addr);
    if (held && --held->depth)
        return;
    struct object *o = object_at(h, e->addr);
    if (held)
        dh_hb_unlock(&heap, &t->hb, &o->hb, held->shared);
    else
        dh_hb_unlock_unowned(&heap, &t->hb, &o->hb, false);
    if (held)
        *held = t->held.at[--t->held.n];
}

static void woken(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    const struct object *o = e->flags & DH_EVENT_TIMED ? NULL : object_find(h, e->addr);
    if (o)
        dh_hb_acquire(&heap, &t->hb, &o->condition);
}

static void wake(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    dh_hb_release_join(&heap, &t->hb, &object_at(h, e->addr)->condition);
}

/* ---- anything else that orders ---- */

static void acquire(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    const struct object *o = object_find(h, e->addr);
    if (o)
        dh_hb_acquire(&heap, &t->hb, &o->hb.clock);
}

static void release(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    dh_hb_release(&heap, &t->hb, &object_at(h, e->addr)->hb.clock);
}

static void release_join(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    dh_hb_release_join(&heap, &t->hb, &object_at(h, e->addr)->hb.clock);
}

static void acquire_release(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    dh_hb_acquire_release(&heap, &t->hb, &object_at(h, e->addr)->hb.clock);
}

/* Parts of what is read may have been released by stores of other sizes. */
static void atomic_load(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    uint64_t size = dh_event_atomic_size(e) ? dh_event_atomic_size(e) : 1;
    struct object *o = h->n_buckets ? h->buckets[bucket_of(h, e->addr)] : NULL;
    for (; o; o = o->next)
        if (o->addr == e->addr || (o->size && (o->addr - e->addr < size || e->addr - o->addr < o->size)))
            dh_hb_load(&heap, &t->hb, &o->hb.clock, dh_event_atomic_order(e));
}

static void atomic(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    enum dh_order order = dh_event_atomic_order(e);
    bool is_store = dh_event_atomic_op(e) == DH_OP_ATOMIC_STORE;
    if (!is_store)
        atomic_load(h, t, e);
    if (!dh_event_atomic_wrote(e))
        return;
    struct object *o = object_find(h, e->addr);
    if (order == DH_ORDER_NONE)
        order = DH_ORDER_RELAXED; /* a write that does not say, but is atomic */
    if (!o && (dh_order_releases(order) || t->hb.has_release_fence))
        o = object_at(h, e->addr);
    if (o && o->size < dh_event_atomic_size(e))
        o->size = dh_event_atomic_size(e);
    if (o)
        (is_store ? dh_hb_store : dh_hb_update)(&heap, &t->hb, &o->hb.clock, order);
}

static void fence(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    (void)h;
    dh_hb_fence(&heap, &t->hb, e->arg <= DH_ORDER_SEQ_CST ? (enum dh_order)e->arg : DH_ORDER_NONE);
}

/* ---- the stream ---- */

static const struct {
    void (*fn)(struct dh_happens *, struct thread *, const struct dh_event *);
    unsigned edges; /* that it makes; 0: any */
} rules[DH_EVENT_COUNT] = {
    [DH_EVENT_ATOMIC] = {atomic, DH_EDGES_ATOMICS},
    [DH_EVENT_FENCE] = {fence, DH_EDGES_ATOMICS},
    [DH_EVENT_ALLOC] = {memory, 0},
    [DH_EVENT_FREE] = {memory, 0},
    [DH_EVENT_LOCK] = {lock, DH_EDGES_LOCKS},
    [DH_EVENT_UNLOCK] = {unlock, DH_EDGES_LOCKS},
    [DH_EVENT_LOCK_INIT] = {forget_one, 0},
    [DH_EVENT_LOCK_DESTROY] = {forget_one, 0},
    [DH_EVENT_COND_WOKEN] = {woken, DH_EDGES_CONDITIONS},
    [DH_EVENT_COND_SIGNAL] = {wake, DH_EDGES_CONDITIONS},
    [DH_EVENT_COND_BROADCAST] = {wake, DH_EDGES_CONDITIONS},
    [DH_EVENT_ACQUIRE] = {acquire, DH_EDGES_OTHERS},
    [DH_EVENT_RELEASE] = {release, DH_EDGES_OTHERS},
    [DH_EVENT_RELEASE_JOIN] = {release_join, DH_EDGES_OTHERS},
    [DH_EVENT_ACQUIRE_RELEASE] = {acquire_release, DH_EDGES_OTHERS},
    [DH_EVENT_FORGET] = {forget_one, 0},
    [DH_EVENT_THREAD_CREATE] = {thread_create, DH_EDGES_THREADS},
    [DH_EVENT_THREAD_JOIN] = {thread_join, DH_EDGES_THREADS},
};

struct dh_happens *dh_happens_new(unsigned edges)
{
    struct dh_happens *h = DH_NEW(struct dh_happens);
    h->edges = edges;
    return h;
}

void dh_happens_event(struct dh_happens *h, const struct dh_event *e)
{
    if (e->kind >= DH_EVENT_COUNT || !rules[e->kind].fn)
        return;
    if (rules[e->kind].edges && !(rules[e->kind].edges & h->edges))
        return;
    struct thread *t = thread_of(h, e->thread);
    if (t)
        rules[e->kind].fn(h, t, e);
}

void dh_happens_pass(struct dh_happens *h, uint64_t from, uint64_t to)
{
    if (from != to && object_find(h, from)) {
        struct object *target = object_at(h, to);
        dh_hb_clock_join(&heap, &target->hb.clock, &object_find(h, from)->hb.clock);
    }
}

uint32_t dh_happens_time(struct dh_happens *h, uint32_t thread)
{
    const struct thread *t = thread_of(h, thread);
    return t ? dh_hb_epoch(&t->hb) : 0;
}

bool dh_happens_before(struct dh_happens *h, uint32_t then_thread, uint32_t then, uint32_t thread)
{
    if (then_thread == thread)
        return true;
    const struct thread *t = thread_of(h, thread);
    const struct thread *other = then_thread < h->threads.n ? h->threads.at[then_thread] : NULL;
    return t && other && dh_vclock_get(&t->hb.clock, other->hb.slot) >= then;
}

const uint32_t *dh_happens_clock(struct dh_happens *h, uint32_t thread, uint32_t *slot, uint32_t *n)
{
    const struct thread *t = thread_of(h, thread);
    *slot = t ? t->hb.slot : 0;
    *n = t ? t->hb.clock.n : 0;
    return t ? t->hb.clock.at : NULL;
}

void dh_happens_free(struct dh_happens *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->threads.n; i++)
        if (h->threads.at[i]) {
            thread_forget(h->threads.at[i]);
            free(h->threads.at[i]);
        }
    for (size_t i = 0; i < h->n_buckets; i++)
        for (struct object *o = h->buckets[i], *next; o; o = next) {
            next = o->next;
            object_free(o);
        }
    free(h->buckets);
    dh_vec_release(&h->threads);
    dh_vec_release(&h->slots);
    dh_vec_release(&h->unused_slots);
    free(h);
}
