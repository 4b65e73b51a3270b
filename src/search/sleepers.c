#include "search/sleepers.h"

#include "search/grow.h"

void dh_sleepers_begin(struct dh_sleepers *s)
{
    for (uint32_t i = 0; i < s->threads; i++)
        s->trail[i].n = 0;
}

/* Locks are no sleep: who has one gives it back, whatever was seen before. */
static bool sleeps(const struct dh_actor *a)
{
    unsigned kind = a->step.kind;
    return !a->ended && !a->enabled && (kind == DH_STEP_WAKE || kind == DH_STEP_SEM_WAIT || kind == DH_STEP_IO);
}

static void learn(struct dh_sleepers *s, struct dh_sleepers_step step, uint32_t patience)
{
    uint32_t i = 0;
    while (i < s->n && s->place[i].step.site != step.site)
        i++;
    if (i == DH_SLEEPERS_PLACES)
        return;
    if (i == s->n)
        s->place[s->n++].patience = patience;
    s->place[i].step = step;
    if (s->place[i].patience > patience)
        s->place[i].patience = patience;
}

bool dh_sleepers_observe(struct dh_sleepers *s, struct dh_search *search, const struct dh_decision *now,
                         uint32_t patience)
{
    if (!DH_SEARCH_GROW(search, s, trail, s->threads, now->count))
        return false;
    for (; s->threads < now->count; s->threads++)
        s->trail[s->threads].n = 0;
    if (now->last >= now->count)
        return true;
    const struct dh_actor *a = &now->actors[now->last];
    struct dh_sleepers_trail *t = &s->trail[now->last];
    if (!sleeps(a)) {
        t->step[t->n++ % DH_SLEEPERS_WINDOW] = (struct dh_sleepers_step){a->step.site, a->step.occurrence};
        return true;
    }
    for (uint32_t i = 0; i < t->n && i < DH_SLEEPERS_WINDOW; i++)
        learn(s, t->step[i], patience);
    t->n = 0;
    return true;
}

const struct dh_sleepers_place *dh_sleepers_choose(const struct dh_sleepers *s, struct dh_rng *rng)
{
    return s->n ? &s->place[dh_rng_below(rng, s->n)] : NULL;
}
