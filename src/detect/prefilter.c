/* Per granule of eight bytes, what must be known of its accesses:
 *   by one thread  the time of its latest access and of its last write, and the locks held at all of its accesses
 *   by several     the locks that all of them held, and whether one wrote
 *   older          an epoch that was after all earlier accesses: every later access must be ordered after it
 * Times are those of happens-before without lock edges. It gives up on what is odd or too much: that costs time only.
 */
#include "detect/prefilter.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "detect/happens_before.h"
#include "detect/locksets.h"
#include "detect/prefilter_cells.h"
#include "detect/run_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_THREADS = 1 << 12,
    MOST_LOCKS = 1 << 18,
    MOST_SETS = 1 << 20,
    MOST_TAKEN = 1 << 30,
    QUEUE = 32,
    OWNED_MOST = 1 << 16 /* bytes of a block whose owner is tracked */
};

/* A block of the heap. */
struct object {
    uint64_t at;
    uint32_t size, owner;
    uint32_t pending; /* the owner's stretch in which it accessed the block under a lock */
    uint32_t number;  /* unique, also among blocks that were at this address before */
    bool shared;
};

struct lock {
    uint64_t at;
    uint32_t id;
    uint32_t object; /* number of the block that it is in, 0: none */
    uint32_t owner;  /* index of the thread that holds it exclusively + 1; 0: none */
    uint32_t alone;  /* the set of this lock only; 0: not made yet */
};

struct held {
    uint64_t at;
    uint32_t id, depth, alone;
    bool shared;
};

struct thread {
    uint32_t time, stretch;
    uint32_t any, exclusive;    /* lock sets */
    uint32_t after, after_time; /* an epoch that is known to be before it: index of thread + 1, time */
    DH_VEC(struct held) held;
};

struct dh_prefilter {
    struct dh_happens *order;
    struct dh_locksets *sets;
    struct dh_prefilter_cells cells;
    DH_VEC(struct thread) threads;
    DH_VEC(struct object) objects;
    DH_VEC(uint32_t) unused;        /* of them */
    DH_VEC(struct lock) locks;      /* by number of `lock_numbers` */
    struct dh_u64_map lock_numbers; /* by address */
    uint32_t last_id, last_object;
    uint32_t n_sets, taken; /* references to sets are never dropped: cells name them */
    bool over;              /* gave up */
    struct dh_event queue[QUEUE];
    unsigned first, last; /* of them, wrapped */
};

struct dh_prefilter *dh_prefilter_new(void)
{
    struct dh_prefilter *s = DH_NEW(struct dh_prefilter);
    s->order = dh_happens_new(DH_EDGES_WITHOUT_LOCKS);
    s->sets = dh_locksets_new();
    dh_vec_push(&s->objects, (struct object){0});
    return s;
}

void dh_prefilter_free(struct dh_prefilter *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->threads.n; i++)
        dh_vec_release(&s->threads.at[i].held);
    dh_vec_release(&s->threads);
    dh_vec_release(&s->objects);
    dh_vec_release(&s->unused);
    dh_prefilter_cells_release(&s->cells);
    dh_happens_free(s->order);
    dh_locksets_free(s->sets);
    dh_vec_release(&s->locks);
    dh_u64_map_release(&s->lock_numbers);
    free(s);
}

static struct thread *thread_of(struct dh_prefilter *s, uint32_t index)
{
    while (s->threads.n <= index)
        dh_vec_push(&s->threads, (struct thread){.stretch = 1});
    if (!s->threads.at[index].time)
        s->threads.at[index].time = dh_happens_time(s->order, index);
    return &s->threads.at[index];
}

static bool before(struct dh_prefilter *s, uint32_t thread, uint32_t time, uint32_t now)
{
    return dh_happens_before(s->order, thread, time, now);
}

/* All that other threads did so far is before what the thread does now. */
static bool is_after_all(struct dh_prefilter *s, uint32_t thread)
{
    for (uint32_t i = 0; i < s->threads.n; i++)
        if (i != thread && s->threads.at[i].time && !before(s, i, s->threads.at[i].time, thread))
            return false;
    return true;
}

static uint32_t kept(struct dh_prefilter *s, uint32_t set, uint32_t already)
{
    if (set == already)
        dh_locksets_unref(s->sets, set);
    else
        s->taken++;
    s->n_sets = set > s->n_sets && set != DH_LOCKSET_ALL ? set : s->n_sets;
    return set;
}

/* ---- accesses ---- */

struct access {
    uint32_t thread, time, locks;
    bool write;
};

static void begin_anew(struct dh_prefilter_cell *c, const struct access *l)
{
    c->thread = l->thread + 1;
    c->time = l->time;
    c->write_time = l->write ? l->time : 0;
    c->locks = l->locks;
    c->wrote = l->write;
}

static void begin_after(struct dh_prefilter_cell *c, const struct access *l, uint32_t thread, uint32_t time)
{
    c->older = (thread + 1) & DH_PREFILTER_THREAD;
    c->older_time = time;
    begin_anew(c, l);
}

static bool join(struct dh_prefilter *s, struct dh_prefilter_cell *c, const struct access *l)
{
    if (c->locks != l->locks && c->locks != DH_LOCKSET_NONE)
        c->locks = kept(s, dh_locksets_intersect(s->sets, c->locks, l->locks), c->locks);
    c->wrote |= l->write;
    return !c->wrote || c->locks != DH_LOCKSET_NONE;
}

/* Its last write may be before this access, even though its last read is not. */
static void share(struct dh_prefilter *s, struct dh_prefilter_cell *c, const struct access *l)
{
    if (c->write_time && before(s, c->thread - 1, c->write_time, l->thread)) {
        c->older = c->thread & DH_PREFILTER_THREAD;
        c->older_time = c->write_time;
        c->wrote = false;
    }
    c->thread = DH_PREFILTER_SEVERAL;
}

/* Order only grows, so the answer is cached. */
static bool is_after(struct dh_prefilter *s, const struct dh_prefilter_cell *c, uint32_t thread)
{
    struct thread *t = &s->threads.at[thread];
    if (t->after == c->older && t->after_time >= c->older_time)
        return true;
    if (!before(s, c->older - 1, c->older_time, thread))
        return false;
    t->after = c->older;
    t->after_time = c->older_time;
    return true;
}

static bool check_cell(struct dh_prefilter *s, struct dh_prefilter_cell *c, const struct access *l)
{
    if (c->thread == l->thread + 1) {
        join(s, c, l);
        c->time = l->time;
        c->write_time = l->write ? l->time : c->write_time;
        return true;
    }
    if (!c->thread) {
        begin_anew(c, l);
        return true;
    }
    if (c->older && !is_after(s, c, l->thread))
        return false;
    if (c->thread != DH_PREFILTER_SEVERAL && before(s, c->thread - 1, c->time, l->thread)) {
        begin_after(c, l, c->thread - 1, c->time);
        return true;
    }
    if (c->thread != DH_PREFILTER_SEVERAL)
        share(s, c, l);
    if (join(s, c, l))
        return true;
    if (!is_after_all(s, l->thread))
        return false;
    begin_after(c, l, l->thread, l->time);
    return true;
}

/* The detector delays accesses under a lock until the thread's next event: they count if the block is shared by then.
 */
static bool is_owners_own(struct dh_prefilter *s, const struct dh_event *e, const struct thread *t, uint32_t number,
                          bool *odd)
{
    struct object *o = &s->objects.at[number];
    if (e->addr - o->at >= o->size || o->shared)
        return false;
    if (o->owner != e->thread) {
        *odd = o->pending == s->threads.at[o->owner].stretch;
        o->shared = true;
        return false;
    }
    if (t->held.n)
        o->pending = t->stretch;
    return true;
}

static bool check_access(struct dh_prefilter *s, const struct dh_event *e)
{
    const struct thread *t = thread_of(s, e->thread);
    bool write = e->kind == DH_EVENT_WRITE, odd = false;
    struct access l = {e->thread, t->time, write ? t->exclusive : t->any, write};
    uint64_t last = e->addr + (e->arg - 1);
    if (!e->arg)
        return true;
    if (last < e->addr)
        return false;
    struct dh_prefilter_cell *first = dh_prefilter_cells_find(&s->cells, e->addr);
    if (first && first->object && !first->settled) {
        if (is_owners_own(s, e, t, first->object, &odd))
            return true;
        first->settled = s->objects.at[first->object].shared;
    }
    for (uint64_t at = e->addr & ~(uint64_t)7; !odd && at <= last; at += 8) {
        struct dh_prefilter_cell *c = dh_prefilter_cells_get(&s->cells, at);
        if (!c || !check_cell(s, c, &l))
            return false;
        if (at > UINT64_MAX - 8)
            break;
    }
    return !odd;
}

/* ---- locks ---- */

static void renew(struct dh_prefilter *s, struct lock *k)
{
    k->id = ++s->last_id;
    k->alone = 0;
}

/* A lock in another block is another lock. */
static struct lock *lock_at(struct dh_prefilter *s, uint64_t at)
{
    const struct dh_prefilter_cell *c = dh_prefilter_cells_find(&s->cells, at);
    uint32_t object = c ? s->objects.at[c->object].number : 0, number = dh_u64_map_number(&s->lock_numbers, at);
    bool new = number == s->locks.n;
    if (new)
        dh_vec_push(&s->locks, (struct lock){0});
    struct lock *k = &s->locks.at[number];
    if (new || k->object != object) {
        *k = (struct lock){.at = at, .object = object, .owner = k->owner};
        renew(s, k);
    }
    return k;
}

static uint32_t set_of(struct dh_prefilter *s, const struct thread *t, bool shared_too)
{
    uint32_t ids[64];
    size_t n = 0;
    for (size_t i = 0; i < t->held.n; i++)
        if (n < sizeof ids / sizeof *ids && (shared_too || !t->held.at[i].shared))
            ids[n++] = t->held.at[i].id;
    return kept(s, dh_locksets_get(s->sets, ids, n), shared_too ? t->any : t->exclusive);
}

static void held_changed(struct dh_prefilter *s, struct thread *t)
{
    bool shared = false;
    for (size_t i = 0; i < t->held.n; i++)
        shared = shared || t->held.at[i].shared;
    if (t->held.n <= 1 && !shared) {
        t->any = t->exclusive = t->held.n ? t->held.at[0].alone : DH_LOCKSET_NONE;
        return;
    }
    t->any = set_of(s, t, true);
    t->exclusive = shared ? set_of(s, t, false) : t->any;
}

static struct held *find_held(struct thread *t, uint64_t at)
{
    for (size_t i = t->held.n; i-- > 0;)
        if (t->held.at[i].at == at)
            return &t->held.at[i];
    return NULL;
}

static bool lock_acquired(struct dh_prefilter *s, struct thread *t, const struct dh_event *e)
{
    struct held *h = find_held(t, e->addr);
    bool shared = e->flags & DH_EVENT_SHARED;
    if (h) {
        h->depth++;
        return true;
    }
    struct lock *k = lock_at(s, e->addr);
    if (k->owner)
        return false; /* its owner released it unseen */
    if (!k->alone)
        k->alone = kept(s, dh_locksets_get(s->sets, &k->id, 1), DH_LOCKSET_NONE);
    if (!shared)
        k->owner = e->thread + 1;
    dh_vec_push(&t->held, (struct held){e->addr, k->id, 1, k->alone, shared});
    held_changed(s, t);
    return true;
}

static bool lock_released(struct dh_prefilter *s, struct thread *t, const struct dh_event *e)
{
    struct held *h = find_held(t, e->addr);
    if (h && --h->depth)
        return true;
    struct lock *k = lock_at(s, e->addr);
    if (!h)
        return !k->owner; /* held by another thread */
    k->owner = 0;
    memmove(h, h + 1, (size_t)(t->held.at + t->held.n - h - 1) * sizeof *h);
    t->held.n--;
    held_changed(s, t);
    return true;
}

static bool is_new_lock(struct dh_prefilter *s, struct thread *t, const struct dh_event *e)
{
    (void)t;
    renew(s, lock_at(s, e->addr));
    return true;
}

/* ---- memory ---- */

static void renew_locks(struct dh_prefilter *s, uint64_t at, uint64_t size)
{
    for (size_t i = 0; i < s->locks.n; i++)
        if (s->locks.at[i].at - at < size)
            renew(s, &s->locks.at[i]);
}

static uint32_t new_object(struct dh_prefilter *s, const struct dh_event *e)
{
    uint32_t i = s->unused.n ? s->unused.at[--s->unused.n] : (uint32_t)s->objects.n;
    if (i == s->objects.n)
        dh_vec_push(&s->objects, (struct object){0});
    s->objects.at[i] =
        (struct object){.at = e->addr, .size = (uint32_t)e->arg, .owner = e->thread, .number = ++s->last_object};
    return i;
}

static void object_ends(struct dh_prefilter *s, uint64_t at)
{
    const struct dh_prefilter_cell *c = dh_prefilter_cells_find(&s->cells, at);
    struct object *o = c && c->object ? &s->objects.at[c->object] : NULL;
    if (!o || o->at != at || !o->size)
        return;
    o->size = 0;
    dh_vec_push(&s->unused, c->object);
}

/* Heap blocks are aligned to eight bytes and share no granule. */
static bool memory(struct dh_prefilter *s, struct thread *t, const struct dh_event *e)
{
    bool owned = e->flags == DH_MEMORY_HEAP && e->arg <= OWNED_MOST && !(e->addr & 7);
    uint64_t size = owned ? (e->arg + 7) & ~(uint64_t)7 : e->arg;
    (void)t;
    if (!e->arg || e->addr + (size - 1) < e->addr)
        return !e->arg;
    if (!owned)
        renew_locks(s, e->addr, e->arg);
    object_ends(s, e->addr);
    dh_prefilter_cells_clear(&s->cells, e->addr, size);
    uint32_t object = owned && e->kind == DH_EVENT_ALLOC ? new_object(s, e) : 0;
    for (uint64_t at = e->addr; object && at < e->addr + size; at += 8) {
        struct dh_prefilter_cell *c = dh_prefilter_cells_get(&s->cells, at);
        if (!c)
            return false;
        c->object = object;
    }
    return true;
}

/* ---- the stream ---- */

static bool (*const rules[DH_EVENT_COUNT])(struct dh_prefilter *, struct thread *, const struct dh_event *) = {
    [DH_EVENT_LOCK] = lock_acquired,       [DH_EVENT_UNLOCK] = lock_released, [DH_EVENT_LOCK_INIT] = is_new_lock,
    [DH_EVENT_LOCK_DESTROY] = is_new_lock, [DH_EVENT_ALLOC] = memory,         [DH_EVENT_FREE] = memory,
};

/* The detector does not want these. */
static bool is_of_no_concern(const struct dh_event *e)
{
    enum { ELSEWHERE = DH_EVENTS_WAIT | DH_EVENTS_SCOPE | DH_EVENTS_COLLISION };
    unsigned group = dh_event_info(e->kind)->group;
    return !group || group & ELSEWHERE;
}

static bool is_too_much(const struct dh_prefilter *s)
{
    return s->locks.n > MOST_LOCKS || s->n_sets > MOST_SETS || s->taken > MOST_TAKEN || s->last_object == UINT32_MAX;
}

static bool check_event(struct dh_prefilter *s, const struct dh_event *e)
{
    if (dh_event_is_access(e))
        return check_access(s, e);
    if (is_of_no_concern(e))
        return true;
    struct thread *t = thread_of(s, e->thread);
    bool quiet = !rules[e->kind] || rules[e->kind](s, t, e);
    t->stretch++;
    if (dh_event_info(e->kind)->group != DH_EVENTS_LOCK || e->kind == DH_EVENT_LOCK_INIT ||
        e->kind == DH_EVENT_LOCK_DESTROY) {
        dh_happens_event(s->order, e);
        t->time = dh_happens_time(s->order, e->thread);
    }
    return quiet && !is_too_much(s);
}

static bool check_oldest(struct dh_prefilter *s)
{
    const struct dh_event *e = &s->queue[s->first++ % QUEUE];
    s->over = s->over || e->thread >= MOST_THREADS || !check_event(s, e);
    return !s->over;
}

/* Events are queued so that the cells of accesses are prefetched while earlier ones are checked. */
bool dh_prefilter_event(struct dh_prefilter *s, const struct dh_event *e)
{
    if (e->kind >= DH_EVENT_COUNT)
        return !s->over;
    s->queue[s->last++ % QUEUE] = *e;
    if (dh_event_is_access(e))
        dh_prefilter_cells_prefetch(&s->cells, e->addr);
    return s->last - s->first < QUEUE ? !s->over : check_oldest(s);
}

bool dh_prefilter_end(struct dh_prefilter *s)
{
    while (s->first != s->last)
        check_oldest(s);
    return !s->over;
}
