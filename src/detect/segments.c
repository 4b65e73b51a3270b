#include "detect/segments.h"

#include "base/alloc.h"
#include "base/vec.h"
#include "detect/happens_before.h"

#include <stdlib.h>
#include <string.h>

/* A thread's current segment. */
struct current {
    uint32_t segment;
    bool learnt;       /* since the segment began: it needs another number */
    uint64_t section;  /* dh_run_thread.section when it began */
    uint64_t released; /* the lock that the thread released last */
};

/* Objects that carry what was published with a segment, and what a signal passes on of its lock: addresses that no
 * program has. */
#define SEGMENT_AT(segment) (1ull << 63 | (uint64_t)(segment) << 8)
#define CONDITION_AT(addr) ((addr) | 1ull << 62)

struct dh_segments {
    struct dh_run_state *run;
    struct dh_happens *order[DH_HB_STRENGTHS];
    struct dh_locksets *locksets;
    DH_VEC(struct dh_segment) segments;
    DH_VEC(uint32_t) refs; /* of them: used more often than their content */
    DH_VEC(uint32_t) unused;
    DH_VEC(struct current) now; /* by thread */
    DH_VEC(uint32_t) scratch;
};

struct dh_segments *dh_segments_new(struct dh_run_state *w)
{
    struct dh_segments *m = DH_NEW(struct dh_segments);
    m->run = w;
    for (int i = 0; i < DH_HB_STRENGTHS; i++)
        m->order[i] = dh_happens_new(DH_EDGES_WITHOUT_LOCKS);
    m->locksets = dh_locksets_new();
    dh_vec_push(&m->segments, (struct dh_segment){0});
    dh_vec_push(&m->refs, 1);
    return m;
}

static void free_held(struct dh_segment *m)
{
    if (m->n_held > 1)
        free(m->held.more);
}

void dh_segments_free(struct dh_segments *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->segments.n; i++)
        free_held(&m->segments.at[i]);
    for (int i = 0; i < DH_HB_STRENGTHS; i++)
        dh_happens_free(m->order[i]);
    dh_locksets_free(m->locksets);
    dh_vec_release(&m->segments);
    dh_vec_release(&m->refs);
    dh_vec_release(&m->unused);
    dh_vec_release(&m->now);
    dh_vec_release(&m->scratch);
    free(m);
}

struct dh_locksets *dh_segments_locksets(struct dh_segments *m)
{
    return m->locksets;
}

const struct dh_segment *dh_segments_get(const struct dh_segments *m, uint32_t segment)
{
    return &m->segments.at[segment];
}

static void add_edges(struct dh_segments *m, enum dh_hb_strength from, unsigned kind, uint32_t thread, uint64_t addr,
                      uint64_t arg)
{
    struct dh_event e = {.kind = (uint8_t)kind, .thread = thread, .addr = addr, .arg = arg};
    for (int i = from; i < DH_HB_STRENGTHS; i++)
        dh_happens_event(m->order[i], &e);
}

static void pass(struct dh_segments *m, uint64_t from, uint64_t to)
{
    for (int i = DH_HB_SIGNALLED; i < DH_HB_STRENGTHS; i++)
        dh_happens_pass(m->order[i], from, to);
}

uint32_t dh_segments_ref(struct dh_segments *m, uint32_t segment)
{
    m->refs.at[segment]++;
    return segment;
}

void dh_segments_unref(struct dh_segments *m, uint32_t segment)
{
    struct dh_segment *at = &m->segments.at[segment];
    if (--m->refs.at[segment])
        return;
    if (at->published)
        add_edges(m, DH_HB_SIGNALLED, DH_EVENT_FORGET, at->thread, SEGMENT_AT(segment), 0);
    dh_locksets_unref(m->locksets, at->any);
    dh_locksets_unref(m->locksets, at->exclusive);
    free_held(at);
    *at = (struct dh_segment){0};
    dh_vec_push(&m->unused, segment);
}

/* ---- current segments ---- */

static struct current *current_of(struct dh_segments *m, uint32_t thread)
{
    if (thread >= DH_RUN_THREADS_MAX)
        thread = DH_RUN_THREADS_MAX; /* all refused indices share one */
    while (m->now.n <= thread)
        dh_vec_push(&m->now, (struct current){0});
    return &m->now.at[thread];
}

static void end_segment(struct dh_segments *m, uint32_t thread)
{
    struct current *n = current_of(m, thread);
    if (n->segment)
        dh_segments_unref(m, n->segment);
    n->segment = 0;
    n->learnt = false;
}

static uint32_t set_of(struct dh_segments *m, const struct dh_run_thread *t, bool shared_too)
{
    m->scratch.n = 0;
    for (size_t i = 0; i < t->held.n; i++)
        if (shared_too || !t->held.at[i].shared)
            dh_vec_push(&m->scratch, t->held.at[i].id);
    return dh_locksets_get(m->locksets, m->scratch.at, m->scratch.n);
}

static uint32_t new_number(struct dh_segments *m)
{
    if (m->unused.n)
        return m->unused.at[--m->unused.n];
    dh_vec_push(&m->segments, (struct dh_segment){0});
    dh_vec_push(&m->refs, 0);
    return (uint32_t)m->segments.n - 1;
}

static uint32_t add_segment(struct dh_segments *m, struct dh_segment new, const struct dh_lock_hold *held)
{
    uint32_t id = new_number(m);
    new.published = false;
    if (new.n_held > 1) {
        new.held.more = dh_xmemdup(held, new.n_held * sizeof *held);
    } else if (new.n_held) {
        new.held.one = *held;
    }
    m->segments.at[id] = new;
    m->refs.at[id] = 1;
    return id;
}

static bool holds_shared(const struct dh_run_thread *t)
{
    for (size_t i = 0; i < t->held.n; i++)
        if (t->held.at[i].shared)
            return true;
    return false;
}

static uint32_t new_segment(struct dh_segments *m, const struct dh_run_thread *t, uint32_t thread)
{
    struct dh_segment new = {.thread = thread, .n_held = (uint32_t)t->held.n};
    for (int i = 0; i < DH_HB_STRENGTHS; i++)
        new.time[i] = dh_happens_time(m->order[i], thread);
    new.any = set_of(m, t, true);
    new.exclusive = holds_shared(t) ? set_of(m, t, false) : dh_locksets_ref(m->locksets, new.any);
    return add_segment(m, new, t->held.at);
}

/* The same locks and time, but ordered after more. */
static uint32_t copy_segment(struct dh_segments *m, uint32_t segment)
{
    struct dh_segment old = m->segments.at[segment];
    dh_locksets_ref(m->locksets, old.any);
    dh_locksets_ref(m->locksets, old.exclusive);
    return add_segment(m, old, dh_segment_held(&old));
}

uint32_t dh_segments_latest(struct dh_segments *m, uint32_t thread)
{
    struct current *n = current_of(m, thread);
    uint32_t old = n->segment;
    if (!old)
        return dh_segments_current(m, thread);
    if (n->learnt) {
        n->segment = copy_segment(m, old);
        n->learnt = false;
        dh_segments_unref(m, old);
    }
    return n->segment;
}

uint32_t dh_segments_current(struct dh_segments *m, uint32_t thread)
{
    struct current *n = current_of(m, thread);
    const struct dh_run_thread *t = dh_run_thread(m->run, thread);
    if (n->segment && n->section == t->section)
        return dh_segments_latest(m, thread);
    end_segment(m, thread);
    n->segment = new_segment(m, t, thread);
    n->section = t->section;
    return n->segment;
}

/* ---- order ---- */

void dh_segments_publish(struct dh_segments *m, uint32_t segment)
{
    uint32_t thread = m->segments.at[segment].thread;
    m->segments.at[segment].published = true;
    add_edges(m, DH_HB_SIGNALLED, DH_EVENT_RELEASE_JOIN, thread, SEGMENT_AT(segment), 0);
    const struct dh_segment *at = &m->segments.at[segment];
    for (size_t i = 0; i < at->n_held; i++)
        if (!dh_segment_held(at)[i].shared)
            pass(m, dh_segment_held(at)[i].lock, SEGMENT_AT(segment));
    end_segment(m, thread);
}

void dh_segments_learn(struct dh_segments *m, uint32_t thread, uint32_t segment, enum dh_hb_strength strength)
{
    if (!m->segments.at[segment].published)
        return;
    add_edges(m, strength, DH_EVENT_ACQUIRE, thread, SEGMENT_AT(segment), 0);
    current_of(m, thread)->learnt = true;
}

/* What was done under the lock so far is what waiters for a condition with this lock wait for. */
static void lock_released(struct dh_segments *m, const struct dh_event *e)
{
    const struct dh_lock_hold *h = dh_run_find_held(m->run, e->thread, e->addr);
    if (h && (h->depth > 1 || h->shared))
        return;
    add_edges(m, DH_HB_SIGNALLED, DH_EVENT_RELEASE_JOIN, e->thread, e->addr, 0);
    current_of(m, e->thread)->released = e->addr;
}

/* Often the lock is released before the signal. */
static void signal_condition(struct dh_segments *m, const struct dh_event *e)
{
    const struct dh_run_thread *t = dh_run_thread(m->run, e->thread);
    for (size_t i = 0; i < t->held.n; i++)
        if (!t->held.at[i].shared)
            pass(m, t->held.at[i].lock, CONDITION_AT(e->addr));
    if (!t->held.n && current_of(m, e->thread)->released)
        pass(m, current_of(m, e->thread)->released, CONDITION_AT(e->addr));
}

static bool is_relaxed_load(const struct dh_event *e)
{
    return e->kind == DH_EVENT_ATOMIC && dh_event_atomic_order(e) == DH_ORDER_RELAXED && !dh_event_atomic_wrote(e);
}

void dh_segments_event(struct dh_segments *m, const struct dh_event *e)
{
    enum { ORDERS = DH_EVENTS_ATOMIC | DH_EVENTS_CONDITION | DH_EVENTS_ORDER | DH_EVENTS_THREAD };
    bool signals = e->kind == DH_EVENT_COND_SIGNAL || e->kind == DH_EVENT_COND_BROADCAST;
    for (int i = 0; i < DH_HB_STRENGTHS; i++)
        dh_happens_event(m->order[i], e);
    if (e->kind == DH_EVENT_UNLOCK)
        lock_released(m, e);
    else if (signals)
        signal_condition(m, e);
    else if (e->kind == DH_EVENT_COND_WOKEN && !(e->flags & DH_EVENT_TIMED))
        add_edges(m, DH_HB_SIGNALLED, DH_EVENT_ACQUIRE, e->thread, CONDITION_AT(e->addr), 0);
    else if (e->kind == DH_EVENT_ALLOC || e->kind == DH_EVENT_FREE)
        add_edges(m, DH_HB_SIGNALLED, e->kind, e->thread, CONDITION_AT(e->addr), e->arg);
    if (e->kind == DH_EVENT_UNLOCK || ((dh_event_info(e->kind)->group & ORDERS) && !is_relaxed_load(e)))
        end_segment(m, e->thread);
}

bool dh_segments_happens_before(struct dh_segments *m, uint32_t segment, uint32_t thread, enum dh_hb_strength strength)
{
    const struct dh_segment *then = &m->segments.at[segment];
    return dh_happens_before(m->order[strength], then->thread, then->time[strength], thread);
}

/* ---- locks ---- */

bool dh_segments_share_lock(struct dh_segments *m, uint32_t a, uint32_t b)
{
    const struct dh_segment *x = &m->segments.at[a], *y = &m->segments.at[b];
    if (!x->any || !y->any)
        return false;
    return !dh_locksets_disjoint(m->locksets, x->any, y->exclusive) ||
           !dh_locksets_disjoint(m->locksets, x->exclusive, y->any);
}

bool dh_segments_lock_sets_within(struct dh_segments *m, uint32_t any, uint32_t exclusive, uint32_t than_any,
                                  uint32_t than_exclusive)
{
    return dh_locksets_is_subset(m->locksets, any, than_any) &&
           dh_locksets_is_subset(m->locksets, exclusive, than_exclusive);
}

bool dh_segments_locks_within(struct dh_segments *m, uint32_t a, uint32_t b)
{
    const struct dh_segment *x = &m->segments.at[a], *y = &m->segments.at[b];
    return dh_segments_lock_sets_within(m, x->any, x->exclusive, y->any, y->exclusive);
}
