#include "detect/run_state.h"
#include "base/alloc.h"

#include "base/map.h"
#include "detect/detector.h"

#include <stdlib.h>
#include <string.h>

static const struct dh_run_thread unknown_thread = {.index = UINT32_MAX, .parent = UINT32_MAX};

/* Objects are kept in a treap by address: they neither overlap nor move. */
struct node {
    struct dh_object object;
    uint32_t priority;
    struct node *child[2];
};

/* A lock by its address; kept, since an address that was a lock will be one again. */
struct lock_row {
    uint64_t lock;
    uint32_t id;
    uint32_t block;   /* number of the heap block that it is in, or 0 */
    uint32_t owner;   /* index of the thread that holds it exclusively + 1; 0: none */
    uint64_t checked; /* value of `changes` when `block` was looked up */
};

enum { LOCK_PAGES = 1 << 14, PAGE_SHIFT = 12, ENDED = 1 << 12 };

struct dh_run_state {
    struct dh_run_host host;
    DH_VEC(struct dh_run_thread *) threads;
    struct node *objects;
    struct dh_object ended[ENDED];  /* by number, wrapped: some of those that ended */
    DH_VEC(struct lock_row) locks;  /* by number of `lock_numbers` */
    struct dh_u64_map lock_numbers; /* by address */
    bool lock_pages[LOCK_PAGES];    /* by page number, wrapped: there may be locks */
    uint64_t changes;               /* of objects on such pages */
    uint32_t last_lock, last_object, random;
    uint64_t last_acquisition, last_activation, last_section;
};

struct dh_run_state *dh_run_state_new(const struct dh_run_host *host)
{
    struct dh_run_state *w = DH_NEW(struct dh_run_state);
    if (host)
        w->host = *host;
    w->random = 0x9e3779b9u;
    return w;
}

/* ---- threads ---- */

static struct dh_run_thread *thread_of(struct dh_run_state *w, uint32_t index)
{
    if (index >= DH_RUN_THREADS_MAX)
        return NULL;
    while (w->threads.n <= index)
        dh_vec_push(&w->threads, NULL);
    struct dh_run_thread **t = &w->threads.at[index];
    if (!*t) {
        *t = dh_xcalloc(1, sizeof **t);
        (*t)->index = index;
        (*t)->parent = UINT32_MAX;
    }
    return *t;
}

const struct dh_run_thread *dh_run_thread(struct dh_run_state *w, uint32_t index)
{
    return index < w->threads.n && w->threads.at[index] ? w->threads.at[index] : &unknown_thread;
}

uint32_t dh_run_thread_count(const struct dh_run_state *w)
{
    return (uint32_t)w->threads.n;
}

static void create(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->arg < DH_RUN_THREADS_MAX ? (uint32_t)e->arg : UINT32_MAX);
    if (t)
        t->parent = e->thread;
}

static void begin_thread(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->thread);
    if (t)
        t->begun = true;
}

static void end_thread(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->thread);
    if (t)
        t->ended = true;
}

static void enter(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->thread);
    if (t)
        dh_vec_push(&t->active, (struct dh_activation){e->site, e->ctx, e->addr, ++w->last_activation});
}

static void leave(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->thread);
    if (t && t->active.n)
        t->active.n--;
}

/* ---- locks ---- */

static struct node **below(struct node **root, uint64_t addr);

static uint32_t block_around(struct dh_run_state *w, uint64_t addr)
{
    struct node **n = below(&w->objects, addr);
    const struct dh_object *o = n ? &(*n)->object : NULL;
    return o && o->region == DH_MEMORY_HEAP && addr - o->at < o->size ? o->number : 0;
}

/* A lock in a block that was freed and allocated again is another one, whether or not it was initialised. */
static struct lock_row *lock_row(struct dh_run_state *w, uint64_t lock)
{
    uint32_t number = dh_u64_map_number(&w->lock_numbers, lock);
    bool new = number == w->locks.n;
    if (new)
        dh_vec_push(&w->locks, (struct lock_row){.lock = lock});
    struct lock_row *r = &w->locks.at[number];
    if (!new && r->checked == w->changes)
        return r;
    uint32_t block = block_around(w, lock);
    r->checked = w->changes;
    w->lock_pages[(lock >> PAGE_SHIFT) % LOCK_PAGES] = true;
    if (new || r->block != block) {
        r->id = ++w->last_lock;
        r->block = block;
    }
    return r;
}

uint32_t dh_run_lock_id(struct dh_run_state *w, uint64_t lock)
{
    return lock_row(w, lock)->id;
}

static struct dh_lock_hold *held_entry(struct dh_run_thread *t, uint64_t lock)
{
    for (size_t i = t->held.n; i-- > 0;)
        if (t->held.at[i].lock == lock)
            return &t->held.at[i];
    return NULL;
}

const struct dh_lock_hold *dh_run_find_held(struct dh_run_state *w, uint32_t thread, uint64_t lock)
{
    return thread < w->threads.n && w->threads.at[thread] ? held_entry(w->threads.at[thread], lock) : NULL;
}

static void drop_held(struct dh_run_state *w, struct dh_run_thread *t, struct dh_lock_hold *h)
{
    size_t i = (size_t)(h - t->held.at);
    memmove(h, h + 1, (t->held.n - i - 1) * sizeof *h);
    t->held.n--;
    t->section = ++w->last_section;
}

/* Its owner does not hold it any more: another thread released it, or acquired it although no release was seen (the
 * owner died, or released it unseen). */
static void disown(struct dh_run_state *w, struct lock_row *r)
{
    struct dh_run_thread *t = r->owner ? thread_of(w, r->owner - 1) : NULL;
    struct dh_lock_hold *h = t ? held_entry(t, r->lock) : NULL;
    if (h)
        drop_held(w, t, h);
    r->owner = 0;
}

static void lock(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->thread);
    struct dh_lock_hold *h = t ? held_entry(t, e->addr) : NULL;
    if (h) {
        h->depth++;
        return;
    }
    if (!t)
        return;
    struct lock_row *row = lock_row(w, e->addr);
    disown(w, row);
    if (!(e->flags & DH_EVENT_SHARED))
        row->owner = e->thread + 1;
    struct dh_lock_hold new = {.lock = e->addr,
                               .id = dh_run_lock_id(w, e->addr),
                               .shared = e->flags & DH_EVENT_SHARED,
                               .depth = 1,
                               .site = e->site,
                               .ctx = e->ctx,
                               .acquisition = ++w->last_acquisition};
    dh_vec_push(&t->held, new);
    t->section = ++w->last_section;
}

static void unlock(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_run_thread *t = thread_of(w, e->thread);
    struct dh_lock_hold *h = t ? held_entry(t, e->addr) : NULL;
    if (!t || (h && --h->depth))
        return;
    struct lock_row *row = lock_row(w, e->addr);
    if (!h)
        disown(w, row);
    else
        drop_held(w, t, h);
    if (row->owner == e->thread + 1)
        row->owner = 0;
}

static void renew_lock(struct dh_run_state *w, const struct dh_event *e)
{
    lock_row(w, e->addr)->id = ++w->last_lock;
}

/* ---- objects ---- */

static void rotate(struct node **at, int side)
{
    struct node *n = *at, *up = n->child[side];
    n->child[side] = up->child[!side];
    up->child[!side] = n;
    *at = up;
}

static void insert(struct node **at, struct node *new)
{
    if (!*at) {
        *at = new;
        return;
    }
    int side = new->object.at > (*at)->object.at;
    insert(&(*at)->child[side], new);
    if ((*at)->child[side]->priority > (*at)->priority)
        rotate(at, side);
}

static struct node *joined(struct node *a, struct node *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->priority > b->priority) {
        a->child[1] = joined(a->child[1], b);
        return a;
    }
    b->child[0] = joined(a, b->child[0]);
    return b;
}

/* The object with the highest address at or below `addr`. */
static struct node **below(struct node **root, uint64_t addr)
{
    struct node **best = NULL;
    for (struct node **n = root; *n; n = &(*n)->child[(*n)->object.at <= addr])
        if ((*n)->object.at <= addr)
            best = n;
    return best;
}

static void remove_node(struct node **at)
{
    struct node *n = *at;
    *at = joined(n->child[0], n->child[1]);
    free(n);
}

static void changes_at(struct dh_run_state *w, uint64_t at, uint64_t last)
{
    uint64_t first = at >> PAGE_SHIFT, end = last >> PAGE_SHIFT;
    bool near = last < at || end - first >= LOCK_PAGES;
    for (uint64_t i = first; !near && i <= end; i++)
        near = w->lock_pages[i % LOCK_PAGES];
    w->changes += near;
}

/* Objects that overlap the range end. */
static void clear(struct dh_run_state *w, uint64_t at, uint64_t size)
{
    uint64_t last = size ? at + size - 1 : at;
    changes_at(w, at, last);
    for (struct node **n = below(&w->objects, last); n; n = below(&w->objects, last)) {
        const struct dh_object *o = &(*n)->object;
        if (o->at < at && at - o->at >= (o->size ? o->size : 1))
            return;
        if (o->at < at || o->at + o->size - 1 > last)
            changes_at(w, o->at, o->at + o->size - 1);
        w->ended[o->number % ENDED] = *o;
        remove_node(n);
    }
}

static const struct dh_object *add_object(struct dh_run_state *w, struct dh_object o)
{
    struct node *n = DH_NEW(struct node);
    clear(w, o.at, o.size);
    w->random = w->random * 1664525u + 1013904223u;
    o.number = ++w->last_object;
    n->object = o;
    n->priority = w->random;
    insert(&w->objects, n);
    return &n->object;
}

static void allocate(struct dh_run_state *w, const struct dh_event *e)
{
    struct dh_object o = {
        .at = e->addr, .size = e->arg, .region = e->flags, .thread = e->thread, .site = e->site, .ctx = e->ctx};
    add_object(w, o);
}

static void release(struct dh_run_state *w, const struct dh_event *e)
{
    clear(w, e->addr, e->arg);
}

const struct dh_object *dh_run_find_object(struct dh_run_state *w, uint64_t addr)
{
    struct node **n = below(&w->objects, addr);
    if (n && addr - (*n)->object.at < (*n)->object.size)
        return &(*n)->object;
    struct dh_object global = {.region = DH_MEMORY_GLOBAL, .site = DH_NO_PLACE, .thread = UINT32_MAX};
    if (w->host.global && w->host.global(w->host.arg, addr, &global.at, &global.size) && addr - global.at < global.size)
        return add_object(w, global);
    return NULL;
}

const struct dh_object *dh_run_find_object_numbered(struct dh_run_state *w, uint64_t addr, uint32_t number)
{
    const struct dh_object *o = dh_run_find_object(w, addr);
    if (o && o->number == number)
        return o;
    o = &w->ended[number % ENDED];
    return o->number == number ? o : NULL;
}

/* ---- events ---- */

static void (*const before[DH_EVENT_COUNT])(struct dh_run_state *, const struct dh_event *) = {
    [DH_EVENT_THREAD_CREATE] = create, [DH_EVENT_THREAD_BEGIN] = begin_thread,
    [DH_EVENT_ENTER] = enter,          [DH_EVENT_LOCK] = lock,
    [DH_EVENT_ALLOC] = allocate,
};

static void (*const after[DH_EVENT_COUNT])(struct dh_run_state *, const struct dh_event *) = {
    [DH_EVENT_THREAD_END] = end_thread,   [DH_EVENT_LEAVE] = leave,
    [DH_EVENT_UNLOCK] = unlock,           [DH_EVENT_FREE] = release,
    [DH_EVENT_LOCK_DESTROY] = renew_lock,
};

void dh_run_state_before(struct dh_run_state *w, const struct dh_event *e)
{
    if (e->kind == DH_EVENT_LOCK_INIT)
        renew_lock(w, e);
    else if (e->kind < DH_EVENT_COUNT && before[e->kind])
        before[e->kind](w, e);
}

void dh_run_state_after(struct dh_run_state *w, const struct dh_event *e)
{
    if (e->kind < DH_EVENT_COUNT && after[e->kind])
        after[e->kind](w, e);
}

/* ---- names ---- */

const struct dh_site *dh_run_site(struct dh_run_state *w, uint32_t place, const struct dh_site_table **table)
{
    return w->host.site && place != DH_NO_PLACE ? w->host.site(w->host.arg, place, table) : NULL;
}

const char *dh_run_variable(struct dh_run_state *w, uint32_t place)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = dh_run_site(w, place, &t);
    return s ? dh_site_string(t, s->variable) : "";
}

const char *dh_run_function(struct dh_run_state *w, uint32_t place)
{
    const struct dh_site_table *t = NULL;
    const struct dh_site *s = dh_run_site(w, place, &t);
    return s ? dh_site_string(t, s->function) : "";
}

const char *const *dh_run_may_access(struct dh_run_state *w, uint32_t place, bool write, size_t *n)
{
    *n = 0;
    return w->host.may_access ? w->host.may_access(w->host.arg, place, write, n) : NULL;
}

int dh_run_flow(struct dh_run_state *w, uint32_t read, uint32_t lock)
{
    return w->host.flow && read != DH_NO_PLACE ? w->host.flow(w->host.arg, read, lock) : -1;
}

uint32_t dh_run_may_wait(struct dh_run_state *w, uint32_t lock, unsigned n, bool *nobody_signals)
{
    *nobody_signals = false;
    return w->host.may_wait && lock != DH_NO_PLACE ? w->host.may_wait(w->host.arg, lock, n, nobody_signals)
                                                   : DH_NO_PLACE;
}

void dh_run_report(struct dh_run_state *w, const struct dh_detector *detector, const struct dh_suspicion *s)
{
    if (w->host.found)
        w->host.found(w->host.arg, detector->name, s);
}

static void free_nodes(struct node *n)
{
    while (n) {
        struct node *next = n->child[1];
        free_nodes(n->child[0]);
        free(n);
        n = next;
    }
}

void dh_run_state_free(struct dh_run_state *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < w->threads.n; i++) {
        struct dh_run_thread *t = w->threads.at[i];
        if (!t)
            continue;
        dh_vec_release(&t->held);
        dh_vec_release(&t->active);
        free(t);
    }
    dh_vec_release(&w->threads);
    free_nodes(w->objects);
    dh_vec_release(&w->locks);
    dh_u64_map_release(&w->lock_numbers);
    free(w);
}
