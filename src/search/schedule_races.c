#include "search/schedule_races.h"

#include "base/hash.h"
#include "event/happens_before.h"
#include "search/hybrid.h"
#include "search/shadow.h"

enum { FIRST_OBJECTS = 64, FIRST_PAIRS = 256, THREADS_MOST = 1 << DH_SHADOW_THREAD_BITS };

struct object {
    uint64_t key;
    uint32_t generation;
    bool is_barrier; /* with a known number of threads: `readers` holds the threads that have arrived */
    uint8_t size;    /* of the widest atomic store to it */
    struct dh_hb_object hb;
};

struct dh_schedule_races {
    struct dh_hb_memory memory; /* first: grow_clock */
    struct dh_search *search;
    struct dh_hb_thread *thread;
    uint32_t thread_room, threads;
    /* Tables of its own, as all memory is KEEP memory. */
    struct object *object;
    uint32_t object_room, objects;
    uint32_t atomic_sizes; /* powers of two, of atomic stores in this schedule */
    uint64_t *pair;        /* of sites + 1 that were reported */
    uint32_t pair_room, pairs;
    struct dh_shadow shadow;
    bool ignores_locks;
    struct dh_hybrid *hybrid;           /* NULL: not asked for; then also */
    struct dh_schedule_races *unlocked; /* the order without locks, and */
    uint32_t unprotected[2];            /* sites + 1 of a pair that the latest access is in; 0: none */
};

/* Entries stay with their clock for the whole search, and their room doubles. */
static bool grow_clock(struct dh_hb_memory *memory, struct dh_hb_clock *c, uint32_t n)
{
    struct dh_search *search = ((struct dh_schedule_races *)memory)->search;
    return dh_search_grow(search, (dh_search_pointer *)&c->at, &c->room, c->n, n, sizeof *c->at);
}

struct dh_schedule_races *dh_schedule_races_new(struct dh_search *search)
{
    struct dh_schedule_races *h = search->memory(search, sizeof *h);
    if (!h || !dh_shadow_init(&h->shadow, search))
        return NULL;
    h->memory.grow = grow_clock;
    h->search = search;
    h->object_room = FIRST_OBJECTS;
    h->object = search->memory(search, h->object_room * sizeof *h->object);
    h->pair_room = FIRST_PAIRS;
    h->pair = search->memory(search, h->pair_room * sizeof *h->pair);
    return h->object && h->pair ? h : NULL;
}

bool dh_schedule_races_want_unprotected(struct dh_schedule_races *h)
{
    h->hybrid = dh_hybrid_new(h->search);
    h->unlocked = h->hybrid ? dh_schedule_races_new(h->search) : NULL;
    if (h->unlocked)
        h->unlocked->ignores_locks = true;
    else
        h->hybrid = NULL;
    return h->hybrid;
}

void dh_schedule_races_begin(struct dh_schedule_races *h)
{
    if (h->hybrid) {
        dh_hybrid_begin(h->hybrid);
        dh_schedule_races_begin(h->unlocked);
        h->unprotected[0] = 0;
    }
    dh_shadow_begin(&h->shadow);
    if (h->shadow.generation == 1)
        for (uint32_t i = 0; i < h->object_room; i++)
            h->object[i].generation = 0;
    h->threads = 0;
    h->objects = 0;
    h->atomic_sizes = 0;
}

/* ---- threads ---- */

static struct dh_hb_thread *thread_at(struct dh_schedule_races *h, uint64_t index)
{
    if (index < h->threads)
        return &h->thread[index];
    /* All `thread_room` of them may have clocks of earlier schedules. */
    if (index >= THREADS_MOST || !DH_SEARCH_GROW(h->search, h, thread, h->thread_room, (uint32_t)index + 1))
        return NULL;
    for (; h->threads <= index; h->threads++)
        if (!dh_hb_thread_init(&h->memory, &h->thread[h->threads], h->threads, 1))
            return NULL;
    return &h->thread[index];
}

/* ---- objects ---- */

static struct object *slot_of(const struct dh_schedule_races *h, uint64_t key)
{
    uint32_t i = (uint32_t)(dh_hash_multiply(key) >> 32) & (h->object_room - 1);
    while (h->object[i].generation == h->shadow.generation && h->object[i].key != key)
        i = (i + 1) & (h->object_room - 1);
    return &h->object[i];
}

static struct object *object_find(const struct dh_schedule_races *h, uint64_t key)
{
    struct object *o = slot_of(h, key);
    return o->generation == h->shadow.generation ? o : NULL;
}

/* Clocks of entries of earlier schedules are abandoned. */
static bool more_objects(struct dh_schedule_races *h)
{
    struct object *old = h->object;
    uint32_t n = h->object_room;
    struct object *more = h->search->memory(h->search, (size_t)n * 2 * sizeof *more);
    if (!more) {
        h->search->statistics.no_memory = true;
        return false;
    }
    h->object = more;
    h->object_room = n * 2;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].generation == h->shadow.generation)
            *slot_of(h, old[i].key) = old[i];
    return true;
}

/* NULL: no memory. */
static struct object *object_at(struct dh_schedule_races *h, uint64_t key)
{
    struct object *o = slot_of(h, key);
    if (o->generation == h->shadow.generation)
        return o;
    if (h->objects >= h->object_room / 2) {
        if (!more_objects(h) && h->objects + 1 >= h->object_room)
            return NULL;
        o = slot_of(h, key);
    }
    h->objects++;
    o->key = key;
    o->generation = h->shadow.generation;
    o->is_barrier = false;
    o->size = 0;
    dh_vclock_clear(&o->hb.clock);
    dh_vclock_clear(&o->hb.readers);
    return o;
}

/* ---- what orders what ---- */

struct executed {
    struct dh_schedule_races *h;
    struct dh_hb_thread *t;
    const struct dh_step *step;
};

static void acquire(const struct executed *x, uint64_t key)
{
    const struct object *o = object_find(x->h, key);
    if (o)
        dh_hb_acquire(&x->h->memory, x->t, &o->hb.clock);
}

static void release(const struct executed *x, uint64_t key)
{
    struct object *o = object_at(x->h, key);
    if (o)
        dh_hb_release_join(&x->h->memory, x->t, &o->hb.clock);
}

static void lock(const struct executed *x, uint64_t key, bool shared)
{
    const struct object *o = x->h->ignores_locks ? NULL : object_find(x->h, key);
    if (o)
        dh_hb_lock(&x->h->memory, x->t, &o->hb, shared);
}

/* Which locks a thread holds is not kept. */
static void unlock(const struct executed *x, uint64_t key, bool shared)
{
    struct object *o = x->h->ignores_locks ? NULL : object_at(x->h, key);
    if (o)
        dh_hb_unlock_unowned(&x->h->memory, x->t, &o->hb, shared);
}

static void step_lock(const struct executed *x)
{
    lock(x, x->step->object, x->step->flags & DH_STEP_SHARED);
}

static void step_unlock(const struct executed *x)
{
    unlock(x, x->step->object, x->step->flags & DH_STEP_SHARED);
}

static void step_wait(const struct executed *x)
{
    if (x->step->second)
        unlock(x, x->step->second, false);
}

/* A signal orders nothing; the mutex does. Without one it is a barrier, or what a library waits for. */
static void step_wake(const struct executed *x)
{
    if (x->step->second) {
        lock(x, x->step->second, false);
        return;
    }
    const struct object *o = object_find(x->h, x->step->object);
    if (o && !o->is_barrier)
        dh_hb_acquire(&x->h->memory, x->t, &o->hb.clock);
}

static void step_acquire(const struct executed *x)
{
    acquire(x, x->step->object);
}

static void step_release(const struct executed *x)
{
    release(x, x->step->object);
}

static void step_io(const struct executed *x)
{
    if (x->step->flags & DH_STEP_READS)
        acquire(x, x->step->object);
    if (x->step->flags & DH_STEP_WRITES)
        release(x, x->step->object);
}

/* When the last thread of a round arrives, all of them know each other's past; the next round begins empty, however
 * late threads leave. */
static void step_barrier(const struct executed *x)
{
    struct dh_hb_memory *memory = &x->h->memory;
    struct object *o = object_at(x->h, x->step->object);
    if (!o || !x->step->size) {
        acquire(x, x->step->object);
        release(x, x->step->object);
        return;
    }
    struct dh_hb_clock *arrived = &o->hb.readers;
    o->is_barrier = true;
    dh_hb_release_join(memory, x->t, &o->hb.clock);
    if (dh_hb_clock_widen(memory, arrived, arrived->n + 1))
        arrived->at[arrived->n - 1] = x->t->slot;
    if (arrived->n < x->step->size)
        return;
    for (uint32_t i = 0; i < arrived->n; i++) {
        struct dh_hb_thread *t = thread_at(x->h, arrived->at[i]); /* NULL: the object was a read lock before */
        if (t)
            dh_hb_acquire(memory, t, &o->hb.clock);
    }
    dh_vclock_clear(&o->hb.clock);
    dh_vclock_clear(arrived);
}

static void step_create(const struct executed *x)
{
    uint32_t index = x->t->slot;
    struct dh_hb_thread *child = thread_at(x->h, x->step->object), *parent = &x->h->thread[index]; /* may have moved */
    if (child && child != parent)
        dh_hb_fork(&x->h->memory, parent, child);
}

static struct dh_hb_thread *other_thread(const struct executed *x)
{
    return x->step->object < x->h->threads && x->step->object != x->t->slot ? &x->h->thread[x->step->object] : NULL;
}

/* Cleanup of the other thread comes after this. That what it does before it notices comes after this, too, is an edge
 * too many. */
static void step_cancel(const struct executed *x)
{
    struct dh_hb_thread *other = other_thread(x);
    if (other)
        dh_hb_fork(&x->h->memory, x->t, other);
}

/* By the number of the signal, where no object lies. */
static void step_kill(const struct executed *x)
{
    release(x, x->step->second);
}

static void step_join(const struct executed *x)
{
    struct dh_hb_thread *ended = other_thread(x);
    if (!ended)
        return;
    dh_hb_join(&x->h->memory, x->t, ended);
    dh_hb_tick(ended); /* what it may still do is not known */
}

static void step_init(const struct executed *x)
{
    struct object *o = object_find(x->h, x->step->object);
    if (!o)
        return;
    dh_vclock_clear(&o->hb.clock);
    dh_vclock_clear(&o->hb.readers);
    o->is_barrier = false;
}

/* ---- atomics ---- */

/* An order that is not known is the strongest. */
static enum dh_order order_of(const struct dh_step *s)
{
    return s->order == DH_ORDER_NONE ? DH_ORDER_SEQ_CST : (enum dh_order)s->order;
}

static void step_fence(const struct executed *x)
{
    dh_hb_fence(&x->h->memory, x->t, order_of(x->step));
}

static void read_object(const struct executed *x, uint64_t key, uint64_t least)
{
    const struct object *o = object_find(x->h, key);
    if (o && o->size >= least)
        dh_hb_load(&x->h->memory, x->t, &o->hb.clock, order_of(x->step));
}

/* Stores of other sizes, of which each made a part of the value: two counts may be read as one value. */
static void read_overlapping(const struct executed *x)
{
    uint64_t at = x->step->object, sizes = x->h->atomic_sizes;
    uint64_t least = sizes & -sizes, most = 1ul << (63 - __builtin_clzl(sizes));
    for (uint64_t key = at & ~(most - 1); key < at + x->step->size; key += least)
        if (key != at)
            read_object(x, key, key < at ? at - key + 1 : 1);
}

static void atomic_read(const struct executed *x)
{
    if (!(x->step->flags & DH_STEP_READS))
        return;
    read_object(x, x->step->object, 0);
    if (x->h->atomic_sizes & ~(uint32_t)x->step->size)
        read_overlapping(x);
}

static void keep_size(const struct executed *x, struct object *o)
{
    if (o->size >= x->step->size)
        return;
    o->size = (uint8_t)(x->step->size < UINT8_MAX ? x->step->size : UINT8_MAX);
    x->h->atomic_sizes |= x->step->size & (1u | 2u | 4u | 8u | 16u);
}

static void atomic_write(const struct executed *x)
{
    enum dh_order order = order_of(x->step);
    bool releases = dh_order_releases(order) || x->t->has_release_fence;
    if (!(x->step->flags & DH_STEP_WRITES))
        return;
    struct object *o = releases ? object_at(x->h, x->step->object) : object_find(x->h, x->step->object);
    if (!o)
        return;
    keep_size(x, o);
    (x->step->flags & DH_STEP_READS ? dh_hb_update : dh_hb_store)(&x->h->memory, x->t, &o->hb.clock, order);
}

/* ---- accesses ---- */

static bool was_reported(struct dh_schedule_races *h, uint32_t a, uint32_t b)
{
    uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1;
    uint32_t i = (uint32_t)(dh_hash_multiply(key) >> 32) & (h->pair_room - 1);
    for (; h->pair[i]; i = (i + 1) & (h->pair_room - 1))
        if (h->pair[i] == key)
            return true;
    h->pair[i] = key;
    if (++h->pairs * 2 < h->pair_room)
        return false;
    uint64_t *old = h->pair;
    uint32_t n = h->pair_room;
    uint64_t *more = h->search->memory(h->search, (size_t)n * 2 * sizeof *more);
    if (!more) { /* forget them rather than fail: they are reported again */
        for (uint32_t k = 0; k < n; k++)
            h->pair[k] = 0;
        h->pairs = 0;
        return false;
    }
    h->pair = more;
    h->pair_room = n * 2;
    for (uint32_t k = 0; k < n; k++)
        if (old[k]) {
            uint32_t at = (uint32_t)(dh_hash_multiply(old[k]) >> 32) & (h->pair_room - 1);
            while (more[at])
                at = (at + 1) & (h->pair_room - 1);
            more[at] = old[k];
        }
    return false;
}

static void fill_race(struct dh_schedule_races *h, uint64_t granule, const struct dh_shadow_cell *c,
                      const struct dh_schedule_access *a, struct dh_schedule_race *race)
{
    unsigned from = (unsigned)__builtin_ctz(c->mask);
    race->first = (struct dh_schedule_access){
        .thread = c->thread,
        .site = c->site,
        .occurrence = c->occurrence,
        .size = 32 - (unsigned)__builtin_clz(c->mask) - from,
        .address = (granule << 3) + from,
        .flags = c->flags & (DH_STEP_WRITES | DH_STEP_ATOMIC),
        .frees = c->flags & DH_SHADOW_FREES,
    };
    race->second = *a;
    race->is_new = !was_reported(h, c->site, a->site);
}

struct unprotected {
    struct dh_shadow_wish wish; /* first */
    const struct dh_hybrid *hybrid;
    const struct dh_hb_clock *unlocked;
    uint32_t thread; /* of the later access */
};

/* Would the two be unordered if locks had been taken the other way round, and does none of them keep them apart? */
static bool is_unprotected(const struct dh_shadow_wish *wish, const struct dh_shadow_cell *before)
{
    const struct unprotected *u = (const struct unprotected *)wish;
    uint32_t epoch = dh_hybrid_unprotected(u->hybrid, before->thread, before->clock, u->thread);
    return epoch > dh_vclock_get(u->unlocked, before->thread);
}

bool dh_schedule_races_take_unprotected(struct dh_schedule_races *h, uint32_t sites[2])
{
    bool any = h->unprotected[0];
    for (unsigned i = 0; i < 2 && any; i++)
        sites[i] = h->unprotected[i] - 1;
    h->unprotected[0] = 0;
    return any;
}

bool dh_schedule_access(struct dh_schedule_races *h, const struct dh_schedule_access *a, struct dh_schedule_race *race)
{
    const struct dh_hb_thread *t = thread_at(h, a->thread);
    if (!t)
        return false;
    struct dh_shadow_cell me = {
        .clock = dh_hb_epoch(t),
        .thread = (uint16_t)a->thread,
        .flags = (uint8_t)((a->flags & (DH_STEP_WRITES | DH_STEP_ATOMIC)) | (a->frees ? DH_SHADOW_FREES : 0)),
        .site = a->site,
        .occurrence = a->occurrence,
    };
    bool only_known = a->frees && !a->site; /* later accesses are the quarantine's */
    const struct dh_hb_thread *unlocked = h->hybrid && !a->frees ? thread_at(h->unlocked, a->thread) : NULL;
    struct unprotected u = {{is_unprotected}, h->hybrid, unlocked ? &unlocked->clock : NULL, a->thread};
    struct dh_shadow_met met = dh_shadow_access(&h->shadow, (struct dh_shadow_bytes){a->address, a->size}, me,
                                                &t->clock, only_known, unlocked ? &u.wish : NULL);
    if (met.is_ordered) {
        h->unprotected[0] = met.before.site + 1;
        h->unprotected[1] = a->site + 1;
    }
    if (met.races)
        fill_race(h, met.at, &met.raced, a, race);
    return met.races;
}

void dh_schedule_races_forget(struct dh_schedule_races *h, uint64_t address, uint64_t size)
{
    dh_shadow_forget(&h->shadow, (struct dh_shadow_bytes){address, size});
}

void dh_schedule_races_note_shared(struct dh_schedule_races *h, uint8_t *sites, uint32_t n)
{
    h->shadow.shared = sites;
    h->shadow.shared_room = n;
}

struct dh_shadow_known *dh_schedule_races_known(struct dh_schedule_races *h)
{
    return &h->shadow.known;
}

uint64_t dh_schedule_races_self(struct dh_schedule_races *h, uint32_t thread)
{
    const struct dh_hb_thread *t = thread_at(h, thread);
    return t ? dh_shadow_self(thread, dh_hb_epoch(t)) : 0;
}

void dh_schedule_races_watch(struct dh_schedule_races *h, uint64_t address)
{
    dh_shadow_watch(&h->shadow, address);
}

/* ---- steps ---- */

typedef void order_step(const struct executed *x);
static order_step *const orders[DH_STEP_COUNT] = {
    [DH_STEP_FENCE] = step_fence,        [DH_STEP_LOCK] = step_lock,       [DH_STEP_UNLOCK] = step_unlock,
    [DH_STEP_WAIT] = step_wait,          [DH_STEP_WAKE] = step_wake,       [DH_STEP_SEM_WAIT] = step_acquire,
    [DH_STEP_SEM_POST] = step_release,   [DH_STEP_BARRIER] = step_barrier, [DH_STEP_ONCE] = step_acquire,
    [DH_STEP_ONCE_END] = step_release,   [DH_STEP_CREATE] = step_create,   [DH_STEP_JOIN] = step_join,
    [DH_STEP_FUTEX_WAIT] = step_acquire, [DH_STEP_IO] = step_io,           [DH_STEP_INIT] = step_init,
    [DH_STEP_FUTEX_WAKE] = step_release, [DH_STEP_CANCEL] = step_cancel,   [DH_STEP_KILL] = step_kill,
    [DH_STEP_DELIVER] = step_acquire,
};

static bool access_of(struct dh_schedule_races *h, uint32_t thread, const struct dh_step *s, uint64_t address,
                      unsigned flags, struct dh_schedule_race *race)
{
    struct dh_schedule_access a = {
        .thread = thread,
        .site = s->site,
        .occurrence = s->occurrence,
        .size = s->size,
        .address = address,
        .flags = (uint8_t)(flags & (DH_STEP_WRITES | DH_STEP_ATOMIC)),
        .frees = s->kind == DH_STEP_FREE,
    };
    return dh_schedule_access(h, &a, race);
}

static bool step_accesses(const struct executed *x, struct dh_schedule_race *race)
{
    const struct dh_step *s = x->step;
    bool found = false;
    if (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE)
        found = access_of(x->h, x->t->slot, s, s->second, 0, race);
    if (!found)
        return access_of(x->h, x->t->slot, s, s->object, s->kind == DH_STEP_FREE ? DH_STEP_WRITES : s->flags, race);
    access_of(x->h, x->t->slot, s, s->object, s->flags, &(struct dh_schedule_race){.is_new = false});
    return true;
}

static bool step_memory(const struct executed *x, struct dh_schedule_race *race)
{
    bool atomic = x->step->flags & DH_STEP_ATOMIC;
    if (atomic)
        atomic_read(x);
    bool found = !x->h->ignores_locks && step_accesses(x, race);
    if (atomic)
        atomic_write(x);
    return found;
}

static bool execute(const struct executed *x, struct dh_schedule_race *race)
{
    const struct dh_step *step = x->step;
    if ((step->kind >= DH_STEP_READ && step->kind <= DH_STEP_COPY) || step->kind == DH_STEP_FREE)
        return step_memory(x, race);
    if (orders[step->kind])
        orders[step->kind](x);
    return false;
}

/* An epoch has one set of locks: taking one begins another. */
static void follow_locks(struct dh_schedule_races *h, uint32_t thread, const struct dh_step *step)
{
    struct dh_schedule_race none;
    dh_schedule_races_step(h->unlocked, thread, step, &none);
    struct dh_hb_thread *t = thread_at(h, thread), *unlocked = thread_at(h->unlocked, thread);
    if (!t || !unlocked)
        return;
    if (dh_hybrid_step(h->hybrid, thread, step))
        dh_hb_tick(t);
    dh_hybrid_epoch(h->hybrid, thread, dh_hb_epoch(t), dh_hb_epoch(unlocked));
}

bool dh_schedule_races_step(struct dh_schedule_races *h, uint32_t thread, const struct dh_step *step,
                            struct dh_schedule_race *race)
{
    struct executed x = {h, thread_at(h, thread), step};
    if (!x.t || step->kind >= DH_STEP_COUNT || step->flags & DH_STEP_FAILED)
        return false;
    bool found = execute(&x, race);
    if (h->hybrid)
        follow_locks(h, thread, step);
    return found;
}
