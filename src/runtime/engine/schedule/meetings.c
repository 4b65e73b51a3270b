#include "runtime/engine/schedule/meetings.h"

#include "base/hash.h"

enum { GRANULE_SHIFT = 3, LATEST_BITS = 10 };

void dh_meetings_begin(struct dh_meetings *m)
{
    m->n = 0;
    for (unsigned i = 0; i < DH_MEETINGS_LATEST; i++)
        m->latest[i].is_known = false;
}

static struct dh_meeting *meeting_of(struct dh_meetings *m, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->at[i].sites[0] == low && m->at[i].sites[1] == high)
            return &m->at[i];
    if (m->n == DH_MEETINGS)
        return NULL;
    m->at[m->n] = (struct dh_meeting){.sites = {low, high}, .distance = UINT32_MAX};
    return &m->at[m->n++];
}

/* The later of two meetings of the same distance: more of the program's state is there. */
static void note_meeting(struct dh_meetings *m, uint32_t from, uint32_t site, uint32_t step, uint32_t distance)
{
    struct dh_meeting *at = meeting_of(m, from, site);
    if (!at || distance > at->distance)
        return;
    at->step = step;
    at->distance = distance;
}

void dh_meetings_note(struct dh_meetings *m, uint32_t step, uint32_t task, const struct dh_step *s)
{
    uint64_t granule = s->object >> GRANULE_SHIFT;
    bool writes = s->flags & DH_STEP_WRITES;
    if (s->kind < DH_STEP_READ || s->kind > DH_STEP_COPY)
        return;
    struct dh_meetings_latest *l = &m->latest[dh_hash_multiply(granule) >> (64 - LATEST_BITS)];
    if (l->is_known && l->granule == granule && l->task != task && (l->writes || writes))
        note_meeting(m, l->site, s->site, l->step, step - l->step);
    *l = (struct dh_meetings_latest){granule, task, s->site, step, writes, true};
}
