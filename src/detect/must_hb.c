#include "detect/must_hb.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "detect/run_state.h"

/* A lock that a thread holds, and the thread's time when it acquired it. */
struct open {
    uint64_t lock;
    uint32_t depth, time;
    bool shared;
};

struct thread {
    DH_VEC(struct open) open;
};

/* A critical section in which its thread released something: a thread that acquired that comes after the section's end
 * if it needs the same lock. */
struct section {
    uint64_t object; /* carries the clock at the section's end */
    uint32_t thread, begun;
    bool shared;
};

enum { SECTIONS_OF_LOCK = 8 };
#define OWN_OBJECTS ((uint64_t)1 << 63) /* addresses that no program has */

/* The latest such sections of a lock. */
struct sections {
    uint32_t n; /* ever */
    struct section at[SECTIONS_OF_LOCK];
};

struct dh_must_hb {
    struct dh_hb_snapshots snapshots;
    unsigned edges;
    DH_VEC(struct thread *) threads;
    struct dh_u64_map sections; /* by lock; kept: a lock that had such a section will have one again */
    uint64_t last_object;
};

struct dh_must_hb *dh_must_hb_new(unsigned edges)
{
    struct dh_must_hb *m = DH_NEW(struct dh_must_hb);
    /* The sections' own objects need them. */
    dh_hb_snapshots_init(&m->snapshots, edges | DH_EDGES_OTHERS);
    m->edges = edges;
    return m;
}

struct dh_hb_snapshot *dh_must_hb_current(struct dh_must_hb *m, uint32_t thread)
{
    return dh_hb_snapshots_current(&m->snapshots, thread);
}

static struct thread *thread_of(struct dh_must_hb *m, uint32_t index)
{
    if (index >= DH_RUN_THREADS_MAX)
        return NULL;
    while (m->threads.n <= index)
        dh_vec_push(&m->threads, NULL);
    if (!m->threads.at[index])
        m->threads.at[index] = DH_NEW(struct thread);
    return m->threads.at[index];
}

/* ---- forced order of sections ---- */

/* An edge through the section's object: RELEASE at its end, ACQUIRE at the beginning of a later section. */
static void add_edge(struct dh_must_hb *m, enum dh_event_kind kind, uint32_t thread, uint64_t object)
{
    struct dh_event e = {.kind = (uint8_t)kind, .thread = thread, .site = DH_NO_PLACE, .addr = object};
    dh_happens_event(m->snapshots.hb, &e);
    dh_hb_snapshots_invalidate(&m->snapshots, thread);
}

static struct open *find_open(struct thread *t, uint64_t lock)
{
    for (size_t i = t->open.n; i-- > 0;)
        if (t->open.at[i].lock == lock)
            return &t->open.at[i];
    return NULL;
}

static void order_after(struct dh_must_hb *m, const struct dh_event *e, const struct section *s)
{
    bool exclude = !s->shared || !(e->flags & DH_EVENT_SHARED);
    if (s->thread != e->thread && exclude && dh_happens_before(m->snapshots.hb, s->thread, s->begun, e->thread))
        add_edge(m, DH_EVENT_ACQUIRE, e->thread, s->object);
}

static void lock_acquired(struct dh_must_hb *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    struct open *o = t ? find_open(t, e->addr) : NULL;
    if (o)
        o->depth++;
    if (!t || o)
        return;
    /* A thread that only tries might have gone on without the lock. */
    bool waits = !(e->flags & (DH_EVENT_TRY | DH_EVENT_TIMED));
    uint32_t at = waits ? dh_u64_map_seek(&m->sections, e->addr) : DH_ABSENT;
    const struct sections *row = at == DH_ABSENT ? NULL : m->sections.at[at].pointer;
    for (uint32_t i = 0; row && i < row->n && i < SECTIONS_OF_LOCK; i++)
        order_after(m, e, &row->at[i]);
    struct open new = {e->addr, 1, dh_happens_time(m->snapshots.hb, e->thread), e->flags & DH_EVENT_SHARED};
    dh_vec_push(&t->open, new);
}

static void section_ends(struct dh_must_hb *m, uint32_t thread, const struct open *o)
{
    struct dh_u64_entry *entry = dh_u64_map_entry(&m->sections, o->lock);
    if (!entry->pointer)
        entry->pointer = DH_NEW(struct sections);
    struct sections *row = entry->pointer;
    struct section *s = &row->at[row->n++ % SECTIONS_OF_LOCK];
    if (s->object)
        add_edge(m, DH_EVENT_FORGET, thread, s->object);
    *s = (struct section){OWN_OBJECTS | ++m->last_object << 8, thread, o->time, o->shared};
    add_edge(m, DH_EVENT_RELEASE, thread, s->object);
}

/* Time has passed in a section if its thread released anything there. */
static void lock_released(struct dh_must_hb *m, const struct dh_event *e)
{
    struct thread *t = thread_of(m, e->thread);
    struct open *o = t ? find_open(t, e->addr) : NULL;
    if (!o || --o->depth)
        return;
    if (dh_happens_time(m->snapshots.hb, e->thread) != o->time)
        section_ends(m, e->thread, o);
    *o = t->open.at[--t->open.n];
}

void dh_must_hb_event(struct dh_must_hb *m, const struct dh_event *e)
{
    if (e->kind == DH_EVENT_LOCK)
        lock_acquired(m, e);
    else if (e->kind == DH_EVENT_UNLOCK)
        lock_released(m, e);
    if (dh_event_info(e->kind)->group != DH_EVENTS_ORDER || m->edges & DH_EDGES_OTHERS)
        dh_hb_snapshots_event(&m->snapshots, e);
}

void dh_must_hb_free(struct dh_must_hb *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->threads.n; i++) {
        if (m->threads.at[i])
            dh_vec_release(&m->threads.at[i]->open);
        free(m->threads.at[i]);
    }
    for (uint32_t i = 0; i < m->sections.n; i++)
        free(m->sections.at[i].pointer);
    dh_u64_map_release(&m->sections);
    dh_vec_release(&m->threads);
    dh_hb_snapshots_release(&m->snapshots);
    free(m);
}
