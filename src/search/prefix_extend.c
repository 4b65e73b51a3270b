/* ExtendConstructWitnessPrefix (Fig. 8): the steps between a1 and a2 that can be executed although the thread of a1,
 * and whoever would see that it did not go on, stay behind. Line 12 is printed with m not equal to m of a1; equal is
 * meant. A thread stays behind from where its next step would not be the same as in the run: it reads what somebody who
 * stayed behind has written, wants what one of them owns, joins or waits for one, or would find an object otherwise
 * than it did. Where we cannot tell it stays, too: the prefix is shorter then, never wrong. */
#include "search/prefix_internal.h"

#include "search/step.h"

enum omitted { OMITTED_POST = 1 << 0, OMITTED_OTHER = 1 << 1 };

/* An object as it is when only the prefix was executed. */
struct object {
    uint64_t key;
    uint32_t owner; /* thread + 1 */
    uint32_t readers;
    uint8_t omitted;
    bool used;
};

struct granule {
    uint64_t key;
    uint8_t dirty; /* bytes that were written by who stayed behind, after the last write of others */
    bool used;
};

struct member {
    bool stuck, ended, created, waits, woken;
    uint64_t waits_at;
};

struct world {
    struct dh_search *search;
    struct dh_prefix *p;
    struct object *object;
    uint32_t object_room, objects;
    struct granule *granule;
    uint32_t granule_room, granules;
    struct member *member;
    uint32_t threads, stuck;
    bool creates_omitted, io_omitted, wide_omitted;
    struct object no_object; /* without memory */
    struct granule no_granule;
};

enum { FIRST_ROOM = 256, WIDEST = 1 << 16 };

/* ---- tables ---- */

static uint32_t hash(uint64_t key, uint32_t room)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
}

static struct object *object_at(struct object *table, uint32_t room, uint64_t key)
{
    uint32_t i = hash(key, room);
    while (table[i].used && table[i].key != key)
        i = (i + 1) & (room - 1);
    return &table[i];
}

static struct object *object_of(struct world *w, uint64_t key)
{
    if (w->objects * 2 >= w->object_room) {
        uint32_t room = w->object_room ? w->object_room * 2 : FIRST_ROOM;
        struct object *more = w->search->memory(w->search, room * sizeof *more);
        if (!more) {
            w->search->statistics.no_memory = true;
            return &w->no_object;
        }
        for (uint32_t i = 0; i < w->object_room; i++)
            if (w->object[i].used)
                *object_at(more, room, w->object[i].key) = w->object[i];
        w->object = more;
        w->object_room = room;
    }
    struct object *o = object_at(w->object, w->object_room, key);
    w->objects += !o->used;
    o->used = true;
    o->key = key;
    return o;
}

static struct granule *granule_at(struct granule *table, uint32_t room, uint64_t key)
{
    uint32_t i = hash(key, room);
    while (table[i].used && table[i].key != key)
        i = (i + 1) & (room - 1);
    return &table[i];
}

static struct granule *granule_of(struct world *w, uint64_t key)
{
    if (w->granules * 2 >= w->granule_room) {
        uint32_t room = w->granule_room ? w->granule_room * 2 : FIRST_ROOM;
        struct granule *more = w->search->memory(w->search, room * sizeof *more);
        if (!more) {
            w->search->statistics.no_memory = true;
            return &w->no_granule;
        }
        for (uint32_t i = 0; i < w->granule_room; i++)
            if (w->granule[i].used)
                *granule_at(more, room, w->granule[i].key) = w->granule[i];
        w->granule = more;
        w->granule_room = room;
    }
    struct granule *g = granule_at(w->granule, w->granule_room, key);
    w->granules += !g->used;
    g->used = true;
    g->key = key;
    return g;
}

/* ---- bytes ---- */

static uint8_t mask_of(uint64_t key, uint64_t from, uint64_t to)
{
    uint64_t base = key << 3;
    unsigned low = from > base ? (unsigned)(from - base) : 0, high = to < base + 8 ? (unsigned)(to - base) : 8;
    return (uint8_t)((0xFFu << low) & (0xFFu >> (8 - high)));
}

enum touch { IS_DIRTY, SET_DIRTY, SET_CLEAN };

static bool touch(struct world *w, uint64_t at, uint64_t size, enum touch how)
{
    bool dirty = false;
    size = size ? size : 1;
    if (size > WIDEST) { /* more than we want to know: whoever reads so much stays, or after it was written */
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

/* An update that failed was a read, but might have written. */
static bool sees_dirty(struct world *w, const struct dh_step *s)
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

static bool is_free(struct world *w, uint64_t lock, bool shared)
{
    const struct object *o = object_of(w, lock);
    return !o->owner && (shared || !o->readers);
}

static bool is_shared(const struct dh_step *s)
{
    return s->flags & DH_STEP_SHARED && (s->kind == DH_STEP_LOCK || s->kind == DH_STEP_UNLOCK);
}

static void take(struct world *w, const struct dh_step *s, uint32_t thread)
{
    struct object *o = object_of(w, mutex_of(s));
    if (is_shared(s))
        o->readers++;
    else
        o->owner = thread + 1;
}

static void give(struct world *w, const struct dh_step *s)
{
    struct object *o = object_of(w, mutex_of(s));
    if (is_shared(s) && o->readers)
        o->readers--;
    else
        o->owner = 0;
}

static bool can_lock(struct world *w, const struct dh_recorded_step *r)
{
    const struct dh_step *s = &r->step;
    bool got = !(s->flags & DH_STEP_FAILED) && !(s->flags & DH_STEP_TIMED && r->alternative);
    return is_free(w, s->object, is_shared(s)) == got;
}

/* Out of time needs nobody; else somebody must have woken it who did not stay behind. */
static bool can_wake(struct world *w, const struct dh_recorded_step *r)
{
    const struct member *me = &w->member[r->thread];
    if (r->step.second && !is_free(w, r->step.second, false))
        return false;
    if (!r->step.second)
        return !object_of(w, r->step.object)->omitted;
    return me->woken == !r->alternative;
}

static bool untouched(struct world *w, const struct dh_step *s, unsigned by)
{
    return !(object_of(w, s->object)->omitted & by);
}

/* Would the step be as it was in the run? */
static bool can(struct world *w, const struct dh_recorded_step *r)
{
    const struct dh_step *s = &r->step;
    if (is_memory(s))
        return !sees_dirty(w, s);
    switch (s->kind) {
    case DH_STEP_NONE:
    case DH_STEP_FENCE:
    case DH_STEP_SLEEP:
    case DH_STEP_YIELD:
    case DH_STEP_UNLOCK:
    case DH_STEP_WAIT:
    case DH_STEP_END:
    case DH_STEP_SEM_POST:
        return true;
    case DH_STEP_LOCK:
        return can_lock(w, r) && untouched(w, s, OMITTED_OTHER);
    case DH_STEP_WAKE:
        return can_wake(w, r);
    case DH_STEP_SEM_WAIT:
        return !(s->flags & (DH_STEP_FAILED | DH_STEP_TIMED)) && untouched(w, s, OMITTED_POST);
    case DH_STEP_CREATE:
        return !w->creates_omitted;
    case DH_STEP_BEGIN:
        return s->object >= w->threads || w->member[s->object].created || !w->creates_omitted;
    case DH_STEP_JOIN:
        return s->object < w->threads && w->member[s->object].ended;
    case DH_STEP_IO:
        return !w->io_omitted || (s->flags & (DH_STEP_READS | DH_STEP_WRITES)) == DH_STEP_WRITES;
    case DH_STEP_CANCEL:
    case DH_STEP_KILL:
    case DH_STEP_EXIT:
    case DH_STEP_FUTEX_WAIT:
        return false;
    default: /* signals, barriers, once ...: as they were if all who use the object were there */
        return untouched(w, s, OMITTED_POST | OMITTED_OTHER);
    }
}

static void wake_waiters(struct world *w, const struct dh_recorded_step *r)
{
    bool all = r->step.kind == DH_STEP_BROADCAST;
    uint32_t which = r->alternative;
    for (uint32_t i = 0; i < w->threads; i++) {
        struct member *m = &w->member[i];
        if (!m->waits || m->woken || m->waits_at != r->step.object)
            continue;
        if (all || !which--) {
            m->woken = true;
            if (!all)
                return;
        }
    }
}

/* It is executed. */
static void perform(struct world *w, const struct dh_recorded_step *r)
{
    const struct dh_step *s = &r->step;
    struct member *me = &w->member[r->thread];
    bool in_vain = s->flags & DH_STEP_FAILED || (s->flags & DH_STEP_TIMED && r->alternative);
    if (is_memory(s) && writes(s))
        touch(w, s->object, s->size, SET_CLEAN);
    if (s->kind == DH_STEP_LOCK && !in_vain)
        take(w, s, r->thread);
    else if (s->kind == DH_STEP_UNLOCK)
        give(w, s);
    else if (s->kind == DH_STEP_SIGNAL || s->kind == DH_STEP_BROADCAST)
        wake_waiters(w, r);
    else if (s->kind == DH_STEP_END)
        me->ended = true;
    else if (s->kind == DH_STEP_CREATE && s->object < w->threads)
        w->member[s->object].created = true;
    if (s->kind == DH_STEP_WAIT) {
        if (s->second)
            give(w, s);
        *me = (struct member){.waits = true, .waits_at = s->object, .created = me->created};
    } else if (s->kind == DH_STEP_WAKE) {
        if (s->second)
            take(w, s, r->thread);
        me->waits = me->woken = false;
    }
}

/* It stays undone. */
static void omit(struct world *w, const struct dh_step *s)
{
    if (is_memory(s)) {
        if (writes(s))
            touch(w, s->object, s->size, SET_DIRTY);
        return;
    }
    w->creates_omitted |= s->kind == DH_STEP_CREATE;
    w->io_omitted |= s->kind == DH_STEP_IO;
    if ((s->kind == DH_STEP_CANCEL || s->kind == DH_STEP_KILL) && s->object < w->threads &&
        !w->member[s->object].stuck) {
        w->member[s->object].stuck = true;
        w->stuck++;
    }
    /* Of locks the owner is known, of semaphores that a wait takes nothing away. */
    if (s->kind == DH_STEP_SEM_POST)
        object_of(w, s->object)->omitted |= OMITTED_POST;
    else if (s->kind != DH_STEP_LOCK && s->kind != DH_STEP_UNLOCK && s->kind != DH_STEP_SEM_WAIT)
        object_of(w, s->object)->omitted |= OMITTED_OTHER;
}

/* ---- the walk ---- */

static bool start_world(struct world *w, struct dh_prefix *p)
{
    w->search = p->search;
    w->p = p;
    w->threads = p->run.threads;
    w->member = p->search->memory(p->search, (w->threads + 1) * sizeof *w->member);
    return w->member;
}

static void stay(struct world *w, const struct dh_recorded_step *r)
{
    if (!w->member[r->thread].stuck)
        w->stuck++;
    w->member[r->thread].stuck = true;
    omit(w, &r->step);
}

/* Threads that a2 depended on between a1 and a2; the others can stay where they are. */
static uint64_t unneeded(struct dh_prefix *p, const struct dh_prefix_pair *pair)
{
    enum { LOOKED_AT = 4096, NEEDED = 256 };
    const struct dh_recorded_step *steps = p->run.step;
    uint32_t needed[NEEDED], n = 0, looked = 0;
    uint64_t threads = 0;
    for (uint32_t i = pair->second + 1; i-- > pair->first + 1 && looked < LOOKED_AT; looked++) {
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
    return looked < LOOKED_AT && held < 64 ? all & ~threads & ~((uint64_t)1 << held) : 0;
}

static void walk(struct world *w, const struct dh_prefix_pair *pair, struct dh_prefix_choices *c)
{
    const struct dh_recorded_step *steps = w->p->run.step, *a1 = &steps[pair->first];
    stay(w, a1);
    for (uint32_t i = pair->first + 1; i <= pair->second && w->stuck < w->threads; i++) {
        const struct dh_recorded_step *r = &steps[i];
        if (w->member[r->thread].stuck) {
            omit(w, &r->step);
            continue;
        }
        /* Pending is enough: it need not be executed, nor read what it read. */
        if (dh_steps_race(&a1->step, &r->step)) {
            c->is_witness = true;
            c->racing = i;
            return;
        }
        if (!can(w, r)) {
            stay(w, r);
            continue;
        }
        perform(w, r);
        c->at[c->n++] = (struct dh_choice){r->thread, r->alternative};
    }
}

bool dh_prefix_extend(struct dh_prefix *p, const struct dh_prefix_pair *pair, struct dh_prefix_choices *c)
{
    struct world w = {0};
    if (pair->first >= pair->second || pair->second >= p->run.n || !start_world(&w, p))
        return false;
    *c = (struct dh_prefix_choices){.held = p->run.step[pair->first].thread};
    c->at = p->search->memory(p->search, (pair->second + 1) * sizeof *c->at);
    if (!c->at)
        return false;
    for (; c->n < pair->first; c->n++) {
        perform(&w, &p->run.step[c->n]);
        c->at[c->n] = (struct dh_choice){p->run.step[c->n].thread, p->run.step[c->n].alternative};
    }
    walk(&w, pair, c);
    c->frozen = unneeded(p, pair);
    return !p->search->statistics.no_memory;
}
