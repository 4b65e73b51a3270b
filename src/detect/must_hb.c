#include "detect/must_hb.h"

#include "base/vec.h"
#include "detect/happens_before.h"
#include "detect/run_state.h"

#include <stdlib.h>
#include <string.h>

/* A lock that a thread has, and the thread's time when it got it. */
struct open {
    uint64_t lock;
    uint32_t depth, time;
    bool shared;
};

struct thread {
    struct dh_turn *now; /* NULL: not asked for since it changed */
    DH_VEC(struct open) open;
};

/* A section of a lock in which its thread let others know of it: who does, comes after its end. */
struct section {
    uint64_t lock, object; /* `object` carries what its end publishes */
    uint32_t thread, begun;
    bool shared;
};

enum { SECTIONS_OF_LOCK = 8 };
#define OWN_OBJECTS ((uint64_t)1 << 63) /* addresses that no program has */

struct sections {
    uint64_t lock; /* 0: free row; kept, since a lock that was such once will be again */
    uint32_t n;    /* ever */
    struct section at[SECTIONS_OF_LOCK];
};

struct dh_must_hb {
    struct dh_happens *happens;
    unsigned edges;
    DH_VEC(struct thread *) threads;
    struct sections **rows; /* by lock, open addressing */
    size_t n_rows, cap_rows;
    uint64_t last_object;
};

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

struct dh_must_hb *dh_must_hb_new(unsigned edges)
{
    struct dh_must_hb *m = zeroed(1, sizeof *m);
    /* The sections' own objects need them. */
    m->happens = dh_happens_new(edges | DH_EDGES_OTHERS);
    m->edges = edges;
    return m;
}

/* ---- turns ---- */

struct dh_turn *dh_hb_snapshot_ref(struct dh_turn *m)
{
    m->users++;
    return m;
}

void dh_turn_put(struct dh_turn *m)
{
    if (m && !--m->users)
        free(m);
}

static struct thread *thread_of(struct dh_must_hb *m, uint32_t index)
{
    if (index >= DH_RUN_THREADS_MAX)
        return NULL;
    while (m->threads.n <= index)
        dh_vec_push(&m->threads, NULL);
    if (!m->threads.at[index])
        m->threads.at[index] = zeroed(1, sizeof(struct thread));
    return m->threads.at[index];
}

struct dh_turn *dh_must_hb_current(struct dh_must_hb *m, uint32_t thread)
{
    struct thread *t = thread_of(m, thread);
    if (!t || t->now)
        return t ? t->now : NULL;
    uint32_t slot, n;
    const uint32_t *known = dh_happens_clock(m->happens, thread, &slot, &n);
    struct dh_turn *now = malloc(sizeof *now + n * sizeof *known);
    if (!now)
        abort();
    *now = (struct dh_turn){
        .thread = thread, .slot = slot, .time = dh_happens_time(m->happens, thread), .users = 1, .n = n};
    memcpy(now->known, known, n * sizeof *known);
    return t->now = now;
}

static void changed(struct dh_must_hb *m, uint32_t index)
{
    struct thread *t = thread_of(m, index);
    if (!t)
        return;
    dh_turn_put(t->now);
    t->now = NULL;
}

/* ---- locks where there is no choice ---- */

static size_t row_of(const struct dh_must_hb *m, uint64_t lock)
{
    size_t i = (lock * 0x9e3779b97f4a7c15u) >> 20 & (m->cap_rows - 1);
    while (m->rows[i] && m->rows[i]->lock != lock)
        i = (i + 1) & (m->cap_rows - 1);
    return i;
}

static void grow(struct dh_must_hb *m)
{
    struct sections **old = m->rows;
    size_t cap = m->cap_rows;
    m->cap_rows = cap ? cap * 2 : 64;
    m->rows = zeroed(m->cap_rows, sizeof(struct sections *));
    for (size_t i = 0; i < cap; i++)
        if (old[i])
            m->rows[row_of(m, old[i]->lock)] = old[i];
    free(old);
}

static struct sections *sections_of(struct dh_must_hb *m, uint64_t lock)
{
    if (m->n_rows * 2 >= m->cap_rows)
        grow(m);
    struct sections **row = &m->rows[row_of(m, lock)];
    if (!*row) {
        *row = zeroed(1, sizeof **row);
        (*row)->lock = lock;
        m->n_rows++;
    }
    return *row;
}

/* What the sections' order makes of `kind`: RELEASE at the end of one, ACQUIRE at the beginning of a later one. */
static void tell(struct dh_must_hb *m, enum dh_event_kind kind, uint32_t thread, uint64_t object)
{
    struct dh_event e = {.kind = (uint8_t)kind, .thread = thread, .site = DH_NO_PLACE, .addr = object};
    dh_happens_event(m->happens, &e);
    changed(m, thread);
}

static struct open *find_open(struct thread *t, uint64_t lock)
{
    for (size_t i = t->open.n; i-- > 0;)
        if (t->open.at[i].lock == lock)
            return &t->open.at[i];
    return NULL;
}

static void come_after(struct dh_must_hb *m, const struct dh_event *e, const struct section *s)
{
    bool apart = !s->shared || !(e->flags & DH_EVENT_SHARED);
    if (s->thread != e->thread && apart && dh_happens_before(m->happens, s->thread, s->begun, e->thread))
        tell(m, DH_EVENT_ACQUIRE, e->thread, s->object);
}

static void taken(struct dh_must_hb *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    struct open *o = t ? find_open(t, e->addr) : NULL;
    if (o)
        o->depth++;
    if (!t || o)
        return;
    /* Who only tries may have gone on without it. */
    bool waits = !(e->flags & (DH_EVENT_TRY | DH_EVENT_TIMED));
    struct sections *row = m->cap_rows && waits ? m->rows[row_of(m, e->addr)] : NULL;
    for (uint32_t i = 0; row && i < row->n && i < SECTIONS_OF_LOCK; i++)
        come_after(m, e, &row->at[i]);
    struct open new = {e->addr, 1, dh_happens_time(m->happens, e->thread), e->flags & DH_EVENT_SHARED};
    dh_vec_push(&t->open, new);
}

static void section_ends(struct dh_must_hb *m, uint32_t thread, const struct open *o)
{
    struct sections *row = sections_of(m, o->lock);
    struct section *s = &row->at[row->n++ % SECTIONS_OF_LOCK];
    if (s->object)
        tell(m, DH_EVENT_FORGET, thread, s->object);
    *s = (struct section){o->lock, OWN_OBJECTS | ++m->last_object << 8, thread, o->time, o->shared};
    tell(m, DH_EVENT_RELEASE, thread, s->object);
}

static void given(struct dh_must_hb *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    struct open *o = t ? find_open(t, e->addr) : NULL;
    if (!o || --o->depth)
        return;
    if (dh_happens_time(m->happens, e->thread) != o->time)
        section_ends(m, e->thread, o);
    *o = t->open.at[--t->open.n];
}

void dh_must_hb_event(struct dh_must_hb *m, const struct dh_event *e)
{
    if (dh_event_is_access(e))
        return;
    if (e->kind == DH_EVENT_LOCK)
        taken(m, e);
    else if (e->kind == DH_EVENT_UNLOCK)
        given(m, e);
    if (dh_event_info(e->kind)->group != DH_EVENTS_ORDER || m->edges & DH_EDGES_OTHERS)
        dh_happens_event(m->happens, e);
    if (e->kind != DH_EVENT_LOCK && e->kind != DH_EVENT_UNLOCK)
        changed(m, e->thread);
    if (e->kind == DH_EVENT_THREAD_CREATE && e->arg < DH_RUN_THREADS_MAX)
        changed(m, (uint32_t)e->arg);
}

void dh_must_hb_free(struct dh_must_hb *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->threads.n; i++) {
        struct thread *t = m->threads.at[i];
        if (!t)
            continue;
        dh_turn_put(t->now);
        dh_vec_release(&t->open);
        free(t);
    }
    for (size_t i = 0; i < m->cap_rows; i++)
        free(m->rows[i]);
    free(m->rows);
    dh_vec_release(&m->threads);
    dh_happens_free(m->happens);
    free(m);
}
