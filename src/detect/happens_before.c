#include "detect/happens_before.h"

#include "base/vec.h"
#include "detect/run_state.h"
#include "event/site.h"

#include <stdlib.h>
#include <string.h>

/* By slot; what is not there is 0. */
struct clock {
    uint32_t *at;
    uint32_t n;
};

struct held {
    uint64_t lock;
    uint32_t depth;
    bool shared;
};

/* A slot is a thread's column in the clocks. It goes on to a thread whose creator knows all that the one before did:
 * who knows a moment of the new thread then knows every one of the old, so times that go on growing tell the truth. */
struct thread {
    uint32_t slot, time; /* time is kept when the clock is gone */
    bool joined;
    struct clock clock;                        /* empty until it does something; its own entry is `time` */
    struct clock fence_release, fence_acquire; /* what a fence published; what relaxed loads saw */
    bool has_fence_release;
    DH_VEC(struct held) held;
};

/* What is at an address and orders threads. One clock for locks, atomics and annotations alike, as code that is not
 * ours may publish by a call what the program acquires by a load (guards of static variables). */
struct object {
    struct object *next; /* of the bucket */
    uint64_t addr;
    struct clock clock, readers, condition;
};

enum { BUCKET_SHIFT = 8 };

struct slot {
    uint32_t last; /* time of the last that was joined */
};

struct dh_happens {
    unsigned edges;
    DH_VEC(struct thread *) threads;
    DH_VEC(struct slot) slots;
    DH_VEC(uint32_t) given_back; /* slots of threads that ended */
    struct object **buckets;
    size_t n_objects, n_buckets;
};

static void *checked(void *p)
{
    if (!p)
        abort();
    return p;
}

/* ---- clocks ---- */

static uint32_t clock_get(const struct clock *c, uint32_t slot)
{
    return slot < c->n ? c->at[slot] : 0;
}

static void clock_widen(struct clock *c, uint32_t n)
{
    if (n <= c->n)
        return;
    c->at = checked(realloc(c->at, n * sizeof *c->at));
    memset(c->at + c->n, 0, (n - c->n) * sizeof *c->at);
    c->n = n;
}

static void clock_join(struct clock *to, const struct clock *from)
{
    clock_widen(to, from->n);
    for (uint32_t i = 0; i < from->n; i++)
        to->at[i] = to->at[i] > from->at[i] ? to->at[i] : from->at[i];
}

static void clock_clear(struct clock *c)
{
    free(c->at);
    *c = (struct clock){0};
}

static void clock_copy(struct clock *to, const struct clock *from)
{
    clock_widen(to, from->n);
    memcpy(to->at, from->at, from->n * sizeof *to->at);
    to->n = from->n;
}

/* ---- threads ---- */

/* One whose last owner did nothing that `creator` does not know; or a new one. */
static uint32_t take_slot(struct dh_happens *h, const struct clock *creator)
{
    for (size_t i = h->given_back.n; creator && i-- > 0;) {
        uint32_t slot = h->given_back.at[i];
        if (clock_get(creator, slot) < h->slots.at[slot].last)
            continue;
        h->given_back.at[i] = h->given_back.at[--h->given_back.n];
        return slot;
    }
    dh_vec_push(&h->slots, (struct slot){0});
    return (uint32_t)h->slots.n - 1;
}

static struct thread *thread_made(struct dh_happens *h, uint32_t index, const struct clock *creator)
{
    if (index >= DH_RUN_THREADS_MAX)
        return NULL;
    while (h->threads.n <= index)
        dh_vec_push(&h->threads, NULL);
    if (!h->threads.at[index]) {
        struct thread *t = checked(calloc(1, sizeof *t));
        t->slot = take_slot(h, creator);
        t->time = h->slots.at[t->slot].last + 1;
        h->threads.at[index] = t;
    }
    return h->threads.at[index];
}

static struct thread *thread_of(struct dh_happens *h, uint32_t index)
{
    struct thread *t = thread_made(h, index, NULL);
    if (t && t->slot >= t->clock.n) {
        clock_widen(&t->clock, t->slot + 1);
        t->clock.at[t->slot] = t->time;
    }
    return t;
}

/* What the thread does from now on is not known to those who know what it did. */
static void next_time(struct thread *t)
{
    t->clock.at[t->slot] = ++t->time;
}

static void publish(struct thread *t, struct clock *to)
{
    clock_copy(to, &t->clock);
    next_time(t);
}

static void publish_too(struct thread *t, struct clock *to)
{
    clock_join(to, &t->clock);
    next_time(t);
}

static void learn(struct thread *t, const struct clock *from)
{
    clock_join(&t->clock, from);
}

static void thread_create(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    if (e->arg >= DH_RUN_THREADS_MAX || e->arg == e->thread)
        return;
    thread_made(h, (uint32_t)e->arg, &t->clock);
    struct thread *child = thread_of(h, (uint32_t)e->arg);
    learn(child, &t->clock);
    next_time(t);
}

static void thread_forget(struct thread *t)
{
    clock_clear(&t->clock);
    clock_clear(&t->fence_release);
    clock_clear(&t->fence_acquire);
    t->has_fence_release = false;
    dh_vec_release(&t->held);
}

static void thread_join(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    struct thread *child = e->arg == e->thread || e->arg >= h->threads.n ? NULL : h->threads.at[e->arg];
    if (!child || child->joined)
        return;
    /* All it did, also after its end was told: destructors of thread-local data. */
    learn(t, &thread_of(h, (uint32_t)e->arg)->clock);
    h->slots.at[child->slot].last = child->time;
    child->joined = true;
    thread_forget(child);
    dh_vec_push(&h->given_back, child->slot);
}

/* ---- objects ---- */

static size_t bucket_of(const struct dh_happens *h, uint64_t addr)
{
    return ((addr >> BUCKET_SHIFT) * 0x9e3779b97f4a7c15u) >> 24 & (h->n_buckets - 1);
}

static void more_buckets(struct dh_happens *h)
{
    struct object **old = h->buckets;
    size_t n = h->n_buckets;
    h->n_buckets = n ? 2 * n : 256;
    h->buckets = checked(calloc(h->n_buckets, sizeof(struct object *)));
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
    o = checked(calloc(1, sizeof *o));
    o->addr = addr;
    o->next = *at;
    *at = o;
    h->n_objects++;
    return o;
}

static void object_free(struct object *o)
{
    clock_clear(&o->clock);
    clock_clear(&o->readers);
    clock_clear(&o->condition);
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
    if (o) {
        learn(t, &o->clock);
        if (!shared)
            learn(t, &o->readers);
    }
    dh_vec_push(&t->held, (struct held){e->addr, 1, shared});
}

static void unlock(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    struct held *held = find_held(t, e->addr);
    if (held && --held->depth)
        return;
    struct object *o = object_at(h, e->addr);
    if (!held) {
        publish_too(t, &o->clock); /* it was not this thread's: what its owner publishes must stay */
    } else if (held->shared) {
        publish_too(t, &o->readers);
    } else {
        publish(t, &o->clock);
        clock_clear(&o->readers); /* known to the thread, so they are in `clock` */
    }
    if (held)
        *held = t->held.at[--t->held.n];
}

static void woken(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    const struct object *o = e->flags & DH_EVENT_TIMED ? NULL : object_find(h, e->addr);
    if (o)
        learn(t, &o->condition);
}

static void wake(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    publish_too(t, &object_at(h, e->addr)->condition);
}

/* ---- anything else that orders ---- */

static void acquire(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    const struct object *o = object_find(h, e->addr);
    if (o)
        learn(t, &o->clock);
}

static void release(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    publish(t, &object_at(h, e->addr)->clock);
}

static void release_join(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    publish_too(t, &object_at(h, e->addr)->clock);
}

static void acquire_release(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    acquire(h, t, e);
    release_join(h, t, e);
}

/* ---- atomics: C11 5.1.2.4, 7.17.3, 7.17.4 ---- */

static bool acquires(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

static bool releases(unsigned order)
{
    return order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST;
}

/* The variable's clock is what the release sequence of its present value carries: a store begins another one, a
 * read-modify-write goes on with it. */
static void atomic_reads(struct thread *t, const struct object *o, unsigned order)
{
    if (!o || order == DH_ORDER_NONE)
        return;
    if (acquires(order))
        learn(t, &o->clock);
    else
        clock_join(&t->fence_acquire, &o->clock);
}

static void atomic_writes(struct dh_happens *h, struct thread *t, const struct dh_event *e, bool rmw)
{
    bool publishes = releases(dh_event_atomic_order(e)) || t->has_fence_release;
    struct object *o = publishes ? object_at(h, e->addr) : object_find(h, e->addr);
    if (o && !rmw)
        clock_clear(&o->clock);
    if (releases(dh_event_atomic_order(e)))
        publish_too(t, &o->clock);
    else if (t->has_fence_release)
        clock_join(&o->clock, &t->fence_release);
}

static void atomic(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    unsigned op = dh_event_atomic_op(e);
    if (op != DH_OP_ATOMIC_STORE)
        atomic_reads(t, object_find(h, e->addr), dh_event_atomic_order(e));
    if (dh_event_atomic_wrote(e))
        atomic_writes(h, t, e, op != DH_OP_ATOMIC_STORE);
}

static void fence(struct dh_happens *h, struct thread *t, const struct dh_event *e)
{
    (void)h;
    if (acquires((unsigned)e->arg)) {
        learn(t, &t->fence_acquire);
        clock_clear(&t->fence_acquire);
    }
    if (releases((unsigned)e->arg)) {
        publish(t, &t->fence_release);
        t->has_fence_release = true;
    }
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
    struct dh_happens *h = checked(calloc(1, sizeof *h));
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
        clock_join(&target->clock, &object_find(h, from)->clock);
    }
}

uint32_t dh_happens_time(struct dh_happens *h, uint32_t thread)
{
    const struct thread *t = thread_of(h, thread);
    return t ? t->time : 0;
}

bool dh_happens_before(struct dh_happens *h, uint32_t then_thread, uint32_t then, uint32_t thread)
{
    if (then_thread == thread)
        return true;
    const struct thread *t = thread_of(h, thread);
    const struct thread *other = then_thread < h->threads.n ? h->threads.at[then_thread] : NULL;
    return t && other && clock_get(&t->clock, other->slot) >= then;
}

const uint32_t *dh_happens_clock(struct dh_happens *h, uint32_t thread, uint32_t *slot, uint32_t *n)
{
    const struct thread *t = thread_of(h, thread);
    *slot = t ? t->slot : 0;
    *n = t ? t->clock.n : 0;
    return t ? t->clock.at : NULL;
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
    dh_vec_release(&h->given_back);
    free(h);
}
