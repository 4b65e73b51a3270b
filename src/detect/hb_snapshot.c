#include "detect/hb_snapshot.h"

#include <stdlib.h>

void dh_hb_snapshots_init(struct dh_hb_snapshots *m, unsigned edges)
{
    *m = (struct dh_hb_snapshots){.happens = dh_happens_new(edges)};
}

void dh_hb_snapshot_unref(struct dh_hb_snapshot *m)
{
    if (m && --m->refs == 0)
        free(m);
}

void dh_hb_snapshots_release(struct dh_hb_snapshots *m)
{
    for (size_t i = 0; i < m->now.n; i++)
        dh_hb_snapshot_unref(m->now.at[i]);
    dh_vec_release(&m->now);
    dh_happens_free(m->happens);
}

static void forget(struct dh_hb_snapshots *m, uint64_t thread)
{
    if (thread >= m->now.n)
        return;
    dh_hb_snapshot_unref(m->now.at[thread]);
    m->now.at[thread] = NULL;
}

void dh_hb_snapshots_event(struct dh_hb_snapshots *m, const struct dh_event *e)
{
    unsigned group = dh_event_info(e->kind)->group;
    if (group & (DH_EVENTS_ACCESS | DH_EVENTS_SCOPE))
        return;
    dh_happens_event(m->happens, e);
    if (group & (DH_EVENTS_ATOMIC | DH_EVENTS_CONDITION | DH_EVENTS_ORDER | DH_EVENTS_THREAD))
        forget(m, e->thread);
    if (e->kind == DH_EVENT_THREAD_CREATE)
        forget(m, e->arg);
}

uint32_t dh_instants_time(struct dh_hb_snapshots *m, uint32_t thread)
{
    return dh_happens_time(m->happens, thread);
}

/* dh_happens tells only whether: what a thread knows of another grows, so the last it knows can be searched for. */
static uint32_t known_of(struct dh_happens *h, uint32_t other, uint32_t thread)
{
    uint32_t low = 0, high = dh_happens_time(h, other) + 1; /* answer is in [low, high] */
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (dh_happens_before(h, other, mid, thread))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct dh_hb_snapshot *dh_hb_snapshots_current(struct dh_hb_snapshots *m, uint32_t thread, uint32_t threads)
{
    while (m->now.n <= thread)
        dh_vec_push(&m->now, NULL);
    if (!m->now.at[thread]) {
        struct dh_hb_snapshot *new = calloc(1, sizeof *new + threads * sizeof *new->known);
        if (!new)
            abort();
        new->thread = thread;
        new->time = dh_instants_time(m, thread);
        new->refs = 1;
        new->n = threads;
        for (uint32_t u = 0; u < threads; u++)
            if (u != thread)
                new->known[u] = known_of(m->happens, u, thread);
        m->now.at[thread] = new;
    }
    m->now.at[thread]->refs++;
    return m->now.at[thread];
}
