/* ExtendConstructWitnessPrefix (002, Fig. 8): the steps between a1 and a2 that can be executed while the thread of a1
 * is held. Line 12 is printed with m not equal to m of a1; equal is meant. A thread is suspended where its next step
 * would not be the same as in the run: it reads what an omitted step wrote, needs a lock that a suspended thread owns,
 * joins or waits for one, or would find an object in another state. Where that is not known it is suspended, too: the
 * prefix is shorter then, never wrong. */
#include "search/prefix_internal.h"

#include "base/hash.h"
#include "search/step.h"

enum omitted { OMITTED_POST = 1 << 0, OMITTED_OTHER = 1 << 1 };

/* What rows of a table begin with. */
struct row {
    uint64_t key;
    bool used;
};

struct table {
    char *rows;
    size_t row_size;
    uint32_t n, room;
};

/* A synchronisation object after the prefix. */
struct object {
    struct row row;
    uint8_t omitted;
    uint32_t owner; /* thread + 1 */
    uint32_t readers;
};

struct granule {
    struct row row;
    uint8_t dirty; /* bytes whose last write in the run is omitted */
};

struct thread {
    bool suspended, ended, created, waits, woken;
    uint64_t waits_at;
};

struct extension {
    struct dh_search *search;
    struct dh_prefix *p;
    struct table objects, granules;
    struct thread *thread;
    uint32_t threads, suspended;
    bool creates_omitted, io_omitted, wide_omitted;
    struct object no_object; /* without memory */
    struct granule no_granule;
};

enum { FIRST_ROOM = 256, WIDEST = 1 << 16 };

/* ---- tables ---- */

/* The row with that key, or the empty one where it would be. */
static struct row *row_at(const struct table *t, uint64_t key)
{
    uint32_t i = (uint32_t)(dh_hash_multiply(key) >> 32) & (t->room - 1);
    struct row *r;
    while ((r = (struct row *)(t->rows + i * t->row_size))->used && r->key != key)
        i = (i + 1) & (t->room - 1);
    return r;
}

/* Rows are whole words. */
static void copy_row(struct row *to, const struct row *from, uint32_t size)
{
    typedef uint64_t __attribute__((may_alias)) word;
    for (uint32_t i = 0; i < size / sizeof(word); i++)
        ((word *)to)[i] = ((const word *)from)[i];
}

static bool grow(struct extension *w, struct table *t)
{
    struct table more = {.row_size = t->row_size, .n = t->n, .room = t->room ? t->room * 2 : FIRST_ROOM};
    more.rows = w->search->memory(w->search, more.room * more.row_size);
    if (!more.rows) {
        w->search->statistics.no_memory = true;
        return false;
    }
    for (uint32_t i = 0; i < t->room; i++) {
        const struct row *r = (const struct row *)(t->rows + i * t->row_size);
        if (r->used)
            copy_row(row_at(&more, r->key), r, t->row_size);
    }
    *t = more;
    return true;
}

/* NULL: no memory. */
static void *row_of(struct extension *w, struct table *t, uint64_t key)
{
    if (t->n * 2 >= t->room && !grow(w, t))
        return NULL;
    struct row *r = row_at(t, key);
    t->n += !r->used;
    *r = (struct row){key, true};
    return r;
}

static struct object *object_of(struct extension *w, uint64_t key)
{
    struct object *o = row_of(w, &w->objects, key);
    return o ? o : &w->no_object;
}

static struct granule *granule_of(struct extension *w, uint64_t key)
{
    struct granule *g = row_of(w, &w->granules, key);
    return g ? g : &w->no_granule;
}

/* ---- bytes ---- */

static uint8_t mask_of(uint64_t key, uint64_t from, uint64_t to)
{
    uint64_t base = key << 3;
    unsigned low = from > base ? (unsigned)(from - base) : 0, high = to < base + 8 ? (unsigned)(to - base) : 8;
    return (uint8_t)((0xFFu << low) & (0xFFu >> (8 - high)));
}

enum touch { IS_DIRTY, SET_DIRTY, SET_CLEAN };

static bool touch(struct extension *w, uint64_t at, uint64_t size, enum touch how)
{
    bool dirty = false;
    size = size ? size : 1;
    if (size > WIDEST) { /* not tracked: a read of so much suspends its thread, and so does any read after an omitted
                            write of so much */
        w->wide_omitted |= how == SET_DIRTY;
        return true;
    }
    for (uint64_t k = at >> 3; k <= (at + size - 1) >> 3; k++) {
        struct granule *g = granule_of(w, k);
        uint8_t mask = mask_of(k, at, at + size);
        dirty |= g->dirty & mask;
        if (how == SET_DIRTY)
            g->dirty |= mask;
        else if (how == SET_CLEAN)
            g->dirty &= (uint8_t)~mask;
    }
    return dirty;
}

static bool is_memory(const struct dh_step *s)
{
    return (s->kind >= DH_STEP_READ && s->kind <= DH_STEP_COPY) || s->kind == DH_STEP_FREE;
}

static bool writes(const struct dh_step *s)
{
    return s->kind == DH_STEP_FREE || s->flags & DH_STEP_WRITES;
}

/* A failed update was a read, but might have written. */
static bool sees_dirty(struct extension *w, const struct dh_step *s)
{
    if (s->kind == DH_STEP_COPY && s->flags & DH_STEP_RANGE)
        return w->wide_omitted || touch(w, s->second, s->size, IS_DIRTY);
    bool reads = s->flags & DH_STEP_READS || s->kind == DH_STEP_READ || s->kind == DH_STEP_RMW;
    return reads && (w->wide_omitted || touch(w, s->object, s->size, IS_DIRTY));
}

/* ---- objects ---- */

static uint64_t mutex_of(const struct dh_step *s)
{
    return s->kind == DH_STEP_WAIT || s->kind == DH_STEP_WAKE ? s->second : s->object;
}

static bool is_free(struct extension *w, uint64_t lock, bool shared)
{
    const struct object *o = object_of(w, lock);
    return !o->owner && (shared || !o->readers);
}

static bool is_shared(const struct dh_step *s)
{
    return s->flags & DH_STEP_SHARED && (s->kind == DH_STEP_LOCK || s->kind == DH_STEP_UNLOCK);
}

static void acquire_lock(struct extension *w, const struct dh_step *s, uint32_t thread)
{
    struct object *o = object_of(w, mutex_of(s));
    if (is_shared(s))
        o->readers++;
    else
        o->owner = thread + 1;
}

static void release_lock(struct extension *w, const struct dh_step *s)
{
    struct object *o = object_of(w, mutex_of(s));
    if (is_shared(s) && o->readers)
        o->readers--;
    else
        o->owner = 0;
}

static bool can_lock(struct extension *w, const struct dh_recorded_step *r)
{
    const struct dh_step *s = &r->step;
    bool got = !(s->flags & DH_STEP_FAILED) && !(s->flags & DH_STEP_TIMED && r->alternative);
    return is_free(w, s->object, is_shared(s)) == got;
}

/* A time-out needs no other thread; else a step of the prefix must have woken it. */
static bool can_wake(struct extension *w, const struct dh_recorded_step *r)
{
    const struct thread *me = &w->thread[r->thread];
    if (r->step.second && !is_free(w, r->step.second, false))
        return false;
    if (!r->step.second)
        return !object_of(w, r->step.object)->omitted;
    return me->woken == !r->alternative;
}

static bool is_intact(struct extension *w, const struct dh_step *s, unsigned by)
{
    return !(object_of(w, s->object)->omitted & by);
}

/* Would the step be as it was in the run? */
static bool is_reproducible(struct extension *w, const struct dh_recorded_step *r)
{
    const struct dh_step *s = &r->step;
    if (is_memory(s))
        return !sees_dirty(w, s);
    switch (s->kind) {
    case DH_STEP_NONE:
    case DH_STEP_FENCE:
    case DH_STEP_SLEEP:
    case DH_STEP_YIELD:
    case DH_STEP_ENTER:
    case DH_STEP_UNLOCK:
    case DH_STEP_WAIT:
    case DH_STEP_END:
    case DH_STEP_SEM_POST:
        return true;
    case DH_STEP_LOCK:
        return can_lock(w, r) && is_intact(w, s, OMITTED_OTHER);
    case DH_STEP_WAKE:
        return can_wake(w, r);
    case DH_STEP_SEM_WAIT:
        return !(s->flags & (DH_STEP_FAILED | DH_STEP_TIMED)) && is_intact(w, s, OMITTED_POST);
    case DH_STEP_CREATE:
        return !w->creates_omitted;
    case DH_STEP_BEGIN:
        return s->object >= w->threads || w->thread[s->object].created || !w->creates_omitted;
    case DH_STEP_JOIN:
        return s->object < w->threads && w->thread[s->object].ended;
    case DH_STEP_IO:
        return !w->io_omitted || (s->flags & (DH_STEP_READS | DH_STEP_WRITES)) == DH_STEP_WRITES;
    case DH_STEP_CANCEL:
    case DH_STEP_KILL:
    case DH_STEP_DELIVER:
    case DH_STEP_EXIT:
    case DH_STEP_FUTEX_WAIT:
        return false;
    default: /* signals, barriers, once ...: as in the run if no use of the object was omitted */
        return is_intact(w, s, OMITTED_POST | OMITTED_OTHER);
    }
}

static void wake_waiters(struct extension *w, const struct dh_recorded_step *r)
{
    bool all = r->step.kind == DH_STEP_BROADCAST;
    uint32_t which = r->alternative;
    for (uint32_t i = 0; i < w->threads; i++) {
        struct thread *m = &w->thread[i];
        if (!m->waits || m->woken || m->waits_at != r->step.object)
            continue;
        if (all || !which--) {
            m->woken = true;
            if (!all)
                return;
        }
    }
}

/* The step belongs to the prefix. */
static void perform(struct extension *w, const struct dh_recorded_step *r)
{
    const struct dh_step *s = &r->step;
    struct thread *me = &w->thread[r->thread];
    bool failed = s->flags & DH_STEP_FAILED || (s->flags & DH_STEP_TIMED && r->alternative);
    if (is_memory(s) && writes(s))
        touch(w, s->object, s->size, SET_CLEAN);
    if (s->kind == DH_STEP_LOCK && !failed)
        acquire_lock(w, s, r->thread);
    else if (s->kind == DH_STEP_UNLOCK)
        release_lock(w, s);
    else if (s->kind == DH_STEP_SIGNAL || s->kind == DH_STEP_BROADCAST)
        wake_waiters(w, r);
    else if (s->kind == DH_STEP_END)
        me->ended = true;
    else if (s->kind == DH_STEP_CREATE && s->object < w->threads)
        w->thread[s->object].created = true;
    if (s->kind == DH_STEP_WAIT) {
        if (s->second)
            release_lock(w, s);
        *me = (struct thread){.waits = true, .waits_at = s->object, .created = me->created};
    } else if (s->kind == DH_STEP_WAKE) {
        if (s->second)
            acquire_lock(w, s, r->thread);
        me->waits = me->woken = false;
    }
}

/* The step does not. */
static void omit(struct extension *w, const struct dh_step *s)
{
    if (is_memory(s)) {
        if (writes(s))
            touch(w, s->object, s->size, SET_DIRTY);
        return;
    }
    w->creates_omitted |= s->kind == DH_STEP_CREATE;
    w->io_omitted |= s->kind == DH_STEP_IO;
    if ((s->kind == DH_STEP_CANCEL || s->kind == DH_STEP_KILL) && s->object < w->threads &&
        !w->thread[s->object].suspended) {
        w->thread[s->object].suspended = true;
        w->suspended++;
    }
    /* The owners of locks are known, and an omitted wait leaves a semaphore's count higher, not lower. */
    if (s->kind == DH_STEP_SEM_POST)
        object_of(w, s->object)->omitted |= OMITTED_POST;
    else if (s->kind != DH_STEP_LOCK && s->kind != DH_STEP_UNLOCK && s->kind != DH_STEP_SEM_WAIT)
        object_of(w, s->object)->omitted |= OMITTED_OTHER;
}

/* ---- the algorithm ---- */

static bool start_extension(struct extension *w, struct dh_prefix *p)
{
    w->search = p->search;
    w->p = p;
    w->threads = p->run.threads;
    w->thread = p->search->memory(p->search, (w->threads + 1) * sizeof *w->thread);
    return w->thread;
}

static void suspend(struct extension *w, const struct dh_recorded_step *r)
{
    if (!w->thread[r->thread].suspended)
        w->suspended++;
    w->thread[r->thread].suspended = true;
    omit(w, &r->step);
}

/* Threads whose steps between a1 and a2 a2 does not depend on: they need not run. */
static uint64_t independent_threads(struct dh_prefix *p, const struct dh_prefix_pair *pair)
{
    enum { VISITED_MOST = 4096, NEEDED = 256 };
    const struct dh_recorded_step *steps = p->run.step;
    uint32_t needed[NEEDED], n = 0, visited = 0;
    uint64_t threads = 0;
    for (uint32_t i = pair->second + 1; i-- > pair->first + 1 && visited < VISITED_MOST; visited++) {
        if (steps[i].thread == steps[pair->first].thread)
            continue;
        bool is_needed = i == pair->second;
        for (uint32_t k = 0; k < n && !is_needed; k++)
            is_needed =
                steps[needed[k]].thread == steps[i].thread || dh_steps_depend(&steps[needed[k]].step, &steps[i].step);
        if (!is_needed)
            continue;
        if (n == NEEDED || steps[i].thread >= 64)
            return 0;
        threads |= (uint64_t)1 << steps[i].thread;
        needed[n++] = i;
    }
    uint64_t all = p->run.threads >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << p->run.threads) - 1;
    uint32_t held = steps[pair->first].thread;
    return visited < VISITED_MOST && held < 64 ? all & ~threads & ~((uint64_t)1 << held) : 0;
}

static void extend(struct extension *w, const struct dh_prefix_pair *pair, struct dh_prefix_choices *c)
{
    const struct dh_recorded_step *steps = w->p->run.step, *a1 = &steps[pair->first];
    suspend(w, a1);
    for (uint32_t i = pair->first + 1; i <= pair->second && w->suspended < w->threads; i++) {
        const struct dh_recorded_step *r = &steps[i];
        if (w->thread[r->thread].suspended) {
            omit(w, &r->step);
            continue;
        }
        /* It need only be pending, not executed. */
        if (dh_steps_race(&a1->step, &r->step)) {
            c->is_witness = true;
            c->racing = i;
            return;
        }
        if (!is_reproducible(w, r)) {
            suspend(w, r);
            continue;
        }
        perform(w, r);
        c->at[c->n++] = (struct dh_choice){r->thread, r->alternative};
    }
}

bool dh_prefix_extend(struct dh_prefix *p, const struct dh_prefix_pair *pair, struct dh_prefix_choices *c)
{
    struct extension w = {.objects.row_size = sizeof(struct object), .granules.row_size = sizeof(struct granule)};
    if (pair->first >= pair->second || pair->second >= p->run.n || !start_extension(&w, p))
        return false;
    *c = (struct dh_prefix_choices){.held = p->run.step[pair->first].thread};
    c->at = p->search->memory(p->search, (pair->second + 1) * sizeof *c->at);
    if (!c->at)
        return false;
    for (; c->n < pair->first; c->n++) {
        perform(&w, &p->run.step[c->n]);
        c->at[c->n] = (struct dh_choice){p->run.step[c->n].thread, p->run.step[c->n].alternative};
    }
    extend(&w, pair, c);
    c->frozen = independent_threads(p, pair);
    return !p->search->statistics.no_memory;
}
