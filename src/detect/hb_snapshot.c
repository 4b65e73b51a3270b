#include "detect/hb_snapshot.h"

#include "base/alloc.h"
#include "detect/run_state.h"

#include <string.h>

void dh_hb_snapshots_init(struct dh_hb_snapshots *s, unsigned edges)
{
    *s = (struct dh_hb_snapshots){.hb = dh_happens_new(edges)};
}

struct dh_hb_snapshot *dh_hb_snapshot_ref(struct dh_hb_snapshot *s)
{
    s->refs++;
    return s;
}

void dh_hb_snapshot_unref(struct dh_hb_snapshot *s)
{
    if (s && --s->refs == 0)
        free(s);
}

void dh_hb_snapshots_release(struct dh_hb_snapshots *s)
{
    for (size_t i = 0; i < s->current.n; i++)
        dh_hb_snapshot_unref(s->current.at[i]);
    dh_vec_release(&s->current);
    dh_happens_free(s->hb);
}

void dh_hb_snapshots_invalidate(struct dh_hb_snapshots *s, uint64_t thread)
{
    if (thread >= s->current.n)
        return;
    dh_hb_snapshot_unref(s->current.at[thread]);
    s->current.at[thread] = NULL;
}

/* Locks count as order in none of the uses, so acquiring and releasing them leaves snapshots valid. */
void dh_hb_snapshots_event(struct dh_hb_snapshots *s, const struct dh_event *e)
{
    enum { ORDERS = DH_EVENTS_ATOMIC | DH_EVENTS_CONDITION | DH_EVENTS_ORDER | DH_EVENTS_THREAD };
    unsigned group = dh_event_info(e->kind)->group;
    if (group & (DH_EVENTS_ACCESS | DH_EVENTS_SCOPE))
        return;
    dh_happens_event(s->hb, e);
    if (group & ORDERS)
        dh_hb_snapshots_invalidate(s, e->thread);
    if (e->kind == DH_EVENT_THREAD_CREATE)
        dh_hb_snapshots_invalidate(s, e->arg);
}

struct dh_hb_epoch dh_hb_snapshots_epoch(struct dh_hb_snapshots *s, uint32_t thread)
{
    struct dh_hb_epoch e = {.time = dh_happens_time(s->hb, thread)};
    uint32_t n;
    dh_happens_clock(s->hb, thread, &e.slot, &n);
    return e;
}

struct dh_hb_snapshot *dh_hb_snapshots_current(struct dh_hb_snapshots *s, uint32_t thread)
{
    if (thread >= DH_RUN_THREADS_MAX)
        return NULL;
    while (s->current.n <= thread)
        dh_vec_push(&s->current, NULL);
    if (s->current.at[thread])
        return s->current.at[thread];
    uint32_t slot, n;
    const uint32_t *clock = dh_happens_clock(s->hb, thread, &slot, &n);
    struct dh_hb_snapshot *new = dh_xmalloc(sizeof *new + n * sizeof *clock);
    *new =
        (struct dh_hb_snapshot){.thread = thread, .epoch = {slot, dh_happens_time(s->hb, thread)}, .refs = 1, .n = n};
    memcpy(new->clock, clock, n * sizeof *clock);
    return s->current.at[thread] = new;
}
