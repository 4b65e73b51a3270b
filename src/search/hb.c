#include "search/hb.h"

#include "event/site.h"
#include "search/hb_shadow.h"

enum { FIRST_OBJECTS = 64, FIRST_PAIRS = 256, THREADS_MOST = 1 << 14 };

struct thread {
    struct dh_hb_clock clock;                        /* its own entry grows when it tells others */
    struct dh_hb_clock fence_release, fence_acquire; /* what a fence published; what relaxed loads saw */
    bool has_fence_release;
};

/* What is at an address and orders threads: one clock for locks, atomics and the rest alike. */
struct object {
    uint64_t key;
    uint32_t generation;
    bool is_barrier;                   /* that says how many it waits for */
    struct dh_hb_clock clock, readers; /* of a barrier: readers are the threads of this round */
};

struct dh_hb {
    struct dh_search *search;
    struct thread *thread;
    uint32_t thread_room, threads;
    struct object *object;
    uint32_t object_room, objects;
    uint64_t *pair; /* of sites + 1 that were told */
    uint32_t pair_room, pairs;
    struct dh_shadow shadow;
};

struct dh_hb *dh_hb_new(struct dh_search *search)
{
    struct dh_hb *h = search->memory(search, sizeof *h);
    if (!h || !dh_shadow_init(&h->shadow, search))
        return NULL;
    h->search = search;
    h->object_room = FIRST_OBJECTS;
    h->object = search->memory(search, h->object_room * sizeof *h->object);
    h->pair_room = FIRST_PAIRS;
    h->pair = search->memory(search, h->pair_room * sizeof *h->pair);
    return h->object && h->pair ? h : NULL;
}

void dh_hb_begin(struct dh_hb *h)
{
    dh_shadow_begin(&h->shadow);
    if (h->shadow.generation == 1)
        for (uint32_t i = 0; i < h->object_room; i++)
            h->object[i].generation = 0;
    h->threads = 0;
    h->objects = 0;
}

/* ---- threads ---- */

static struct thread *thread_of(struct dh_hb *h, uint32_t index)
{
    if (index < h->threads)
        return &h->thread[index];
    /* `thread_room` of them may have storage from schedules before. */
    if (index >= THREADS_MOST || !DH_POOL_GROW(h->search, h, thread, h->thread_room, index + 1))
        return NULL;
    for (; h->threads <= index; h->threads++) {
        struct thread *t = &h->thread[h->threads];
        t->clock.n = t->fence_release.n = t->fence_acquire.n = 0;
        t->has_fence_release = false;
        if (!dh_hb_clock_widen(h->search, &t->clock, h->threads + 1))
            return NULL;
        t->clock.at[h->threads] = 1;
    }
    return &h->thread[index];
}

static void tick(struct thread *t, uint32_t index)
{
    t->clock.at[index]++;
}

/* ---- objects ---- */

static struct object *find(const struct dh_hb *h, uint64_t key)
{
    uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (h->object_room - 1);
    while (h->object[i].generation == h->shadow.generation && h->object[i].key != key)
        i = (i + 1) & (h->object_room - 1);
    return &h->object[i];
}

static void swap_clocks(struct dh_hb_clock *a, struct dh_hb_clock *b)
{
    struct dh_hb_clock c = *a;
    *a = *b;
    *b = c;
}

/* All storage goes along, also that of entries that are not in use. */
static bool more_objects(struct dh_hb *h)
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
        if (old[i].generation == h->shadow.generation) {
            struct object *o = find(h, old[i].key);
            o->key = old[i].key;
            o->generation = old[i].generation;
            o->is_barrier = old[i].is_barrier;
            swap_clocks(&o->clock, &old[i].clock);
            swap_clocks(&o->readers, &old[i].readers);
        }
    return true;
}

static struct object *object_of(struct dh_hb *h, uint64_t key)
{
    struct object *o = find(h, key);
    if (o->generation == h->shadow.generation)
        return o;
    if (h->objects >= h->object_room / 2) {
        if (!more_objects(h) && h->objects + 1 >= h->object_room)
            return NULL;
        o = find(h, key);
    }
    h->objects++;
    o->key = key;
    o->generation = h->shadow.generation;
    o->is_barrier = false;
    o->clock.n = o->readers.n = 0;
    return o;
}

/* ---- what orders what ---- */

struct moment {
    struct dh_hb *h;
    struct thread *t;
    uint32_t index;
    const struct dh_step *step;
};

static void acquire(const struct moment *m, uint64_t key)
{
    const struct object *o = find(m->h, key);
    if (o->generation == m->h->shadow.generation)
        dh_hb_clock_join(m->h->search, &m->t->clock, &o->clock);
}

static void release(const struct moment *m, uint64_t key)
{
    struct object *o = object_of(m->h, key);
    if (o)
        dh_hb_clock_join(m->h->search, &o->clock, &m->t->clock);
    tick(m->t, m->index);
}

static void lock(const struct moment *m, uint64_t key, bool shared)
{
    const struct object *o = find(m->h, key);
    if (o->generation != m->h->shadow.generation)
        return;
    dh_hb_clock_join(m->h->search, &m->t->clock, &o->clock);
    if (!shared)
        dh_hb_clock_join(m->h->search, &m->t->clock, &o->readers);
}

static void unlock(const struct moment *m, uint64_t key, bool shared)
{
    struct object *o = object_of(m->h, key);
    if (o && shared)
        dh_hb_clock_join(m->h->search, &o->readers, &m->t->clock);
    else if (o)
        dh_hb_clock_join(m->h->search, &o->clock, &m->t->clock);
    tick(m->t, m->index);
}

static void step_lock(const struct moment *m)
{
    lock(m, m->step->object, m->step->flags & DH_STEP_SHARED);
}

static void step_unlock(const struct moment *m)
{
    unlock(m, m->step->object, m->step->flags & DH_STEP_SHARED);
}

static void step_wait(const struct moment *m)
{
    if (m->step->second)
        unlock(m, m->step->second, false);
}

/* A signal orders nothing; the mutex does. Without one it is a barrier, or what a library waits for. */
static void step_wake(const struct moment *m)
{
    if (m->step->second) {
        lock(m, m->step->second, false);
        return;
    }
    const struct object *o = find(m->h, m->step->object);
    if (o->generation == m->h->shadow.generation && !o->is_barrier)
        dh_hb_clock_join(m->h->search, &m->t->clock, &o->clock);
}

static void step_acquire(const struct moment *m)
{
    acquire(m, m->step->object);
}

static void step_release(const struct moment *m)
{
    release(m, m->step->object);
}

static void step_io(const struct moment *m)
{
    if (m->step->flags & DH_STEP_READS)
        acquire(m, m->step->object);
    if (m->step->flags & DH_STEP_WRITES)
        release(m, m->step->object);
}

/* When the round is full all its threads know of each other; the next round begins empty, whoever leaves late. */
static void step_barrier(const struct moment *m)
{
    struct dh_search *search = m->h->search;
    struct object *o = object_of(m->h, m->step->object);
    if (!o || !m->step->size) {
        acquire(m, m->step->object);
        release(m, m->step->object);
        return;
    }
    o->is_barrier = true;
    dh_hb_clock_join(search, &o->clock, &m->t->clock);
    uint32_t n = o->readers.n;
    if (dh_hb_clock_widen(search, &o->readers, n + 1))
        o->readers.at[n] = m->index;
    tick(m->t, m->index);
    if (o->readers.n < m->step->size)
        return;
    for (uint32_t i = 0; i < o->readers.n; i++) {
        struct thread *t = thread_of(m->h, o->readers.at[i]);
        if (t)
            dh_hb_clock_join(search, &t->clock, &o->clock);
    }
    o->clock.n = o->readers.n = 0;
}

static void step_create(const struct moment *m)
{
    uint32_t index = m->index;
    struct thread *child = m->step->object < THREADS_MOST ? thread_of(m->h, (uint32_t)m->step->object) : NULL;
    struct thread *parent = thread_of(m->h, index); /* may have moved */
    if (child && child != parent)
        dh_hb_clock_join(m->h->search, &child->clock, &parent->clock);
    tick(parent, index);
}

/* Cleanup and signal handlers of the other come after this; so does, too much, whatever it does before it takes notice.
 */
static void step_cancel(const struct moment *m)
{
    if (m->step->object >= m->h->threads || m->step->object == m->index)
        return;
    dh_hb_clock_join(m->h->search, &m->h->thread[m->step->object].clock, &m->t->clock);
    tick(m->t, m->index);
}

static void step_join(const struct moment *m)
{
    if (m->step->object >= m->h->threads || m->step->object == m->index)
        return;
    uint32_t joined = (uint32_t)m->step->object;
    dh_hb_clock_join(m->h->search, &m->t->clock, &m->h->thread[joined].clock);
    tick(&m->h->thread[joined], joined); /* whatever it may still do is not known */
}

static void step_init(const struct moment *m)
{
    struct object *o = find(m->h, m->step->object);
    if (o->generation != m->h->shadow.generation)
        return;
    o->clock.n = o->readers.n = 0;
    o->is_barrier = false;
}

/* ---- atomics ---- */

static bool acquires(unsigned order)
{
    return order == DH_ORDER_ACQUIRE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST ||
           order == DH_ORDER_NONE;
}

static bool releases(unsigned order)
{
    return order == DH_ORDER_RELEASE || order == DH_ORDER_ACQ_REL || order == DH_ORDER_SEQ_CST ||
           order == DH_ORDER_NONE;
}

static void step_fence(const struct moment *m)
{
    if (acquires(m->step->order))
        dh_hb_clock_join(m->h->search, &m->t->clock, &m->t->fence_acquire);
    if (releases(m->step->order)) {
        dh_hb_clock_copy(m->h->search, &m->t->fence_release, &m->t->clock);
        m->t->has_fence_release = true;
        tick(m->t, m->index);
    }
}

static void atomic_before(const struct moment *m)
{
    const struct object *o = find(m->h, m->step->object);
    if (!(m->step->flags & DH_STEP_READS) || o->generation != m->h->shadow.generation)
        return;
    dh_hb_clock_join(m->h->search, acquires(m->step->order) ? &m->t->clock : &m->t->fence_acquire, &o->clock);
}

/* A store begins a new release sequence, an update goes on with the one it found. */
static void atomic_after(const struct moment *m)
{
    struct thread *t = m->t;
    if (!(m->step->flags & DH_STEP_WRITES))
        return;
    bool telling = releases(m->step->order);
    struct object *o = telling || t->has_fence_release ? object_of(m->h, m->step->object) : NULL;
    if (!o) {
        o = find(m->h, m->step->object);
        o = o->generation == m->h->shadow.generation ? o : NULL;
    }
    if (o && !(m->step->flags & DH_STEP_READS))
        o->clock.n = 0;
    if (o && (telling || t->has_fence_release))
        dh_hb_clock_join(m->h->search, &o->clock, telling ? &t->clock : &t->fence_release);
    if (telling)
        tick(t, m->index);
}

/* ---- accesses ---- */

static bool told_before(struct dh_hb *h, uint32_t a, uint32_t b)
{
    uint64_t key = (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a) + 1;
    uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (h->pair_room - 1);
    for (; h->pair[i]; i = (i + 1) & (h->pair_room - 1))
        if (h->pair[i] == key)
            return true;
    h->pair[i] = key;
    if (++h->pairs * 2 < h->pair_room)
        return false;
    uint64_t *old = h->pair;
    uint32_t n = h->pair_room;
    uint64_t *more = h->search->memory(h->search, (size_t)n * 2 * sizeof *more);
    if (!more) { /* forget them rather than fail: they are told again */
        for (uint32_t k = 0; k < n; k++)
            h->pair[k] = 0;
        h->pairs = 0;
        return false;
    }
    h->pair = more;
    h->pair_room = n * 2;
    for (uint32_t k = 0; k < n; k++)
        if (old[k]) {
            uint32_t at = (uint32_t)(old[k] * 0x9e3779b97f4a7c15u >> 32) & (h->pair_room - 1);
            while (more[at])
                at = (at + 1) & (h->pair_room - 1);
            more[at] = old[k];
        }
    return false;
}

static void tell(struct dh_hb *h, uint64_t granule, const struct dh_shadow_cell *c, const struct dh_hb_access *a,
                 struct dh_hb_race *race)
{
    unsigned from = (unsigned)__builtin_ctz(c->mask);
    race->first = (struct dh_hb_access){
        .thread = c->thread,
        .site = c->site,
        .occurrence = c->occurrence,
        .size = 32 - (unsigned)__builtin_clz(c->mask) - from,
        .address = (granule << 3) + from,
        .flags = c->flags & (DH_STEP_WRITES | DH_STEP_ATOMIC),
        .frees = c->flags & DH_SHADOW_FREES,
    };
    race->second = *a;
    race->is_new = !told_before(h, c->site, a->site);
}

static unsigned mask_of(uint64_t granule, uint64_t from, uint64_t to)
{
    uint64_t base = granule << 3;
    unsigned low = from > base ? (unsigned)(from - base) : 0, high = to < base + 8 ? (unsigned)(to - base) : 8;
    return (0xFFu << low) & (0xFFu >> (8 - high));
}

bool dh_hb_access(struct dh_hb *h, const struct dh_hb_access *a, struct dh_hb_race *race)
{
    struct thread *t = thread_of(h, a->thread);
    uint64_t end = a->address + a->size;
    bool found = false;
    if (!t || !a->size)
        return false;
    struct dh_shadow_cell me = {
        .clock = t->clock.at[a->thread],
        .thread = (uint16_t)a->thread,
        .flags = (uint8_t)((a->flags & (DH_STEP_WRITES | DH_STEP_ATOMIC)) | (a->frees ? DH_SHADOW_FREES : 0)),
        .site = a->site,
        .occurrence = a->occurrence,
    };
    for (uint64_t g = a->address >> 3; g <= (end - 1) >> 3; g++) {
        struct dh_shadow_cell raced;
        me.mask = (uint8_t)mask_of(g, a->address, end);
        if (dh_shadow_is_known(&h->shadow, g, &me))
            continue;
        if (!dh_shadow_access(&h->shadow, g, &me, &t->clock, &raced) || found)
            continue;
        tell(h, g, &raced, a, race);
        found = true;
    }
    return found;
}

void dh_hb_forget(struct dh_hb *h, uint64_t address, uint64_t size)
{
    uint64_t end = address + size;
    for (uint64_t g = address >> 3; size && g <= (end - 1) >> 3; g++)
        dh_shadow_forget(&h->shadow, g, mask_of(g, address, end));
}

/* ---- steps ---- */

typedef void order_step(const struct moment *m);
static order_step *const orders[DH_STEP_COUNT] = {
    [DH_STEP_FENCE] = step_fence,        [DH_STEP_LOCK] = step_lock,       [DH_STEP_UNLOCK] = step_unlock,
    [DH_STEP_WAIT] = step_wait,          [DH_STEP_WAKE] = step_wake,       [DH_STEP_SEM_WAIT] = step_acquire,
    [DH_STEP_SEM_POST] = step_release,   [DH_STEP_BARRIER] = step_barrier, [DH_STEP_ONCE] = step_acquire,
    [DH_STEP_ONCE_END] = step_release,   [DH_STEP_CREATE] = step_create,   [DH_STEP_JOIN] = step_join,
    [DH_STEP_FUTEX_WAIT] = step_acquire, [DH_STEP_IO] = step_io,           [DH_STEP_INIT] = step_init,
    [DH_STEP_FUTEX_WAKE] = step_release, [DH_STEP_CANCEL] = step_cancel,   [DH_STEP_KILL] = step_cancel,
};

static bool access_of(struct dh_hb *h, uint32_t thread, const struct dh_step *s, uint64_t address, unsigned flags,
                      struct dh_hb_race *race)
{
    struct dh_hb_access a = {
        .thread = thread,
        .site = s->site,
        .occurrence = s->occurrence,
        .size = s->size,
        .address = address,
        .flags = (uint8_t)(flags & (DH_STEP_WRITES | DH_STEP_ATOMIC)),
        .frees = s->kind == DH_STEP_FREE,
    };
    return dh_hb_access(h, &a, race);
}

static bool step_memory(const struct moment *m, struct dh_hb_race *race)
{
    const struct dh_step *s = m->step;
    bool atomic = s->flags & DH_STEP_ATOMIC, found = false;
    if (atomic)
        atomic_before(m);
    if (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE)
        found = access_of(m->h, m->index, s, s->second, 0, race);
    if (!found)
        found = access_of(m->h, m->index, s, s->object, s->kind == DH_STEP_FREE ? DH_STEP_WRITES : s->flags, race);
    else
        access_of(m->h, m->index, s, s->object, s->flags, &(struct dh_hb_race){.is_new = false});
    if (atomic)
        atomic_after(m);
    return found;
}

bool dh_hb_step(struct dh_hb *h, uint32_t thread, const struct dh_step *step, struct dh_hb_race *race)
{
    struct thread *t = thread_of(h, thread);
    struct moment m = {h, t, thread, step};
    if (!t || step->kind >= DH_STEP_COUNT || step->flags & DH_STEP_FAILED)
        return false;
    if ((step->kind >= DH_STEP_READ && step->kind <= DH_STEP_COPY) || step->kind == DH_STEP_FREE)
        return step_memory(&m, race);
    if (orders[step->kind])
        orders[step->kind](&m);
    return false;
}
