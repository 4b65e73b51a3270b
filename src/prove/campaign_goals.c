/* From a finding to a search: the ends that show it, the places that become visible, and the phases. */
#include "base/alloc.h"
#include "base/str.h"
#include "prove/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

/* For a pair of places: directed, at random, systematically. */
static const struct phase pair_phases[] = {
    {"directed", DH_ENGINE_NO_ORDER, 8, 0, false},
    {"random", DH_ENGINE_NO_ORDER, 4, 0, false},
    {"dpor", 0, 40, 0, false},
    {"pct", DH_ENGINE_NO_ORDER, 24, 0, false},
    {"pos", DH_ENGINE_NO_ORDER, 24, 0, false},
};

/* For places of libraries, which cannot be marked: every access is a step. */
static const struct phase library_phases[] = {{"random", DH_ENGINE_ALL_VISIBLE, 40, 0, false},
                                              {"pct", DH_ENGINE_ALL_VISIBLE, 30, 0, false},
                                              {"pos", DH_ENGINE_ALL_VISIBLE, 30, 0, false}};

static const struct {
    enum dh_finding_kind kind;
    uint32_t ends;
} searched[] = {
    {DH_FINDING_RACE, 1u << DH_ENGINE_RACE | 1u << DH_ENGINE_FREED},
    {DH_FINDING_DEADLOCK, 1u << DH_ENGINE_DEADLOCK},
    {DH_FINDING_LOST_WAKEUP, 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_DEADLOCK},
    {DH_FINDING_INDEFINITE_WAIT, 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_DEADLOCK | 1u << DH_ENGINE_HANG},
    {DH_FINDING_CRITICAL_WAIT, 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_DEADLOCK},
    {DH_FINDING_USE_AFTER_FREE, 1u << DH_ENGINE_FREED | 1u << DH_ENGINE_RACE},
    {DH_FINDING_ASSERTION, 1u << DH_ENGINE_ASSERTION},
    {DH_FINDING_CRASH, 1u << DH_ENGINE_CRASH},
    {DH_FINDING_ATOMICITY, 1u << DH_ENGINE_ATOMICITY},
};

static uint32_t ends_of(enum dh_finding_kind kind)
{
    for (size_t i = 0; i < sizeof searched / sizeof *searched; i++)
        if (searched[i].kind == kind)
            return searched[i].ends;
    return 0;
}

bool dh_campaign_skip(struct dh_goal *g, const char *why)
{
    g->verdict = DH_GOAL_SKIPPED;
    free(g->why);
    g->why = dh_strdup(why);
    return false;
}

/* Of an update that races with itself: the read of one thread and the write of the other. */
static uint32_t reading_half(struct campaign *c, const char *site, uint32_t writing)
{
    uint8_t *marked = dh_xcalloc(c->terms.s->start.places + 1, 1);
    uint32_t place = writing, any;
    dh_place_names_mark(c->terms.s->places, site, marked, &any);
    for (uint32_t i = 0; i < c->terms.s->start.places; i++)
        if (marked[i] && i != writing)
            place = i;
    free(marked);
    return place;
}

static bool mark_side(struct campaign *c, const char *site, uint8_t side, struct goal_search *a, uint32_t *one)
{
    uint8_t *marked = dh_xcalloc(c->terms.s->start.places + 1, 1);
    unsigned n = dh_place_names_mark(c->terms.s->places, site, marked, one);
    for (uint32_t i = 0; i < c->terms.s->start.places; i++)
        if (marked[i]) {
            a->visible[i] |= DH_ENGINE_VISIBLE;
            a->sides[i] |= side;
        }
    free(marked);
    return n;
}

bool dh_campaign_set_up_goal(struct campaign *c, struct dh_goal *g, struct goal_search *a)
{
    const struct dh_finding *f = g->finding;
    uint32_t place = 0;
    a->goal = g;
    a->look_for = ends_of(f->kind);
    a->phases = pair_phases;
    a->n_phases = sizeof pair_phases / sizeof *pair_phases;
    if (!a->look_for)
        return dh_campaign_skip(g, "no schedule shows a finding of this kind");
    unsigned found = 0;
    for (size_t i = 0; i < f->accesses.n; i++) {
        if (!mark_side(c, f->accesses.at[i].site, found ? 2 : 1, a, &place))
            continue;
        if (found < 2)
            a->place[found] = place;
        if (found == 1 && a->place[0] == place)
            a->place[1] = reading_half(c, f->accesses.at[i].site, place);
        found++;
    }
    a->is_pair = found >= 2 && (a->look_for & 1u << DH_ENGINE_RACE);
    bool places_missing = f->kind == DH_FINDING_RACE && found < 2;
    a->places_missing = found < f->accesses.n && a->look_for & 1u << DH_ENGINE_RACE;
    if (places_missing && strcmp(f->build, c->terms.s->build) != 0)
        return dh_campaign_skip(g, "its places are not in this build");
    if (places_missing) {
        a->phases = library_phases;
        a->n_phases = sizeof library_phases / sizeof *library_phases;
    }
    return true;
}
