/* One search for all races of the campaign's goals: their places are visible together, and active testing
 * (search/active.c) brings together whichever of them it can, several in one schedule. Where a schedule takes long, as
 * of a compressor, goals that are looked for one after the other would starve each other. */
#include "base/alloc.h"
#include "finding/group.h"
#include "prove/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_GOALS = 2, JOINT_PART = 2 }; /* of the time */

static const struct phase joint_phases[] = {
    {"active", DH_ENGINE_NO_ORDER, 30, 0, DH_ENGINE_BEFORE_FIRST, false},
    {"active", DH_ENGINE_NO_ORDER, 30, 0, DH_ENGINE_BEFORE_LAST, false},
    {"active", DH_ENGINE_NO_ORDER, 40, 0, DH_ENGINE_IN_BETWEEN, false},
};

static bool is_joint_goal(const struct dh_goal *g)
{
    return g->verdict == DH_GOAL_OPEN && g->finding->kind == DH_FINDING_RACE && g->finding->level >= DH_LEVEL_OBSERVED;
}

/* Marks the places of the goal; false: it cannot be one of them. */
static bool add_goal(struct campaign *c, struct dh_goal *g, struct goal_search *all)
{
    size_t n = c->terms.s->start.places + 1;
    struct goal_search one = {.visible = dh_xcalloc(n, sizeof *one.visible), .sides = dh_xcalloc(n, 1)};
    bool ok = dh_campaign_set_up_goal(c, g, &one) && one.is_pair;
    for (size_t i = 0; ok && i < n; i++)
        all->visible[i] |= one.visible[i];
    all->look_for |= ok ? one.look_for : 0;
    dh_campaign_goal_search_release(&one);
    return ok;
}

static unsigned add_goals(struct campaign *c, struct goal_search *all)
{
    unsigned n = 0;
    for (size_t i = 0; i < c->terms.n_goals; i++)
        if (i % c->terms.o->shards == c->terms.o->shard && is_joint_goal(&c->terms.goals[i]))
            n += add_goal(c, &c->terms.goals[i], all);
    return n;
}

bool dh_campaign_is_group_proven(const struct campaign *c, uint64_t group)
{
    for (size_t i = 0; group && !c->terms.o->by_itself && i < c->known.n; i++)
        if (c->known.at[i].proven && c->known.at[i].group == group)
            return true;
    return false;
}

bool dh_campaign_joint_goals_shown(const struct campaign *c)
{
    for (size_t i = 0; i < c->terms.n_goals; i++)
        if (is_joint_goal(&c->terms.goals[i]) &&
            !dh_campaign_is_group_proven(c, dh_finding_group(c->terms.goals[i].finding)))
            return false;
    return true;
}

void dh_campaign_search_jointly(struct campaign *c)
{
    size_t places = c->terms.s->start.places + 1;
    struct goal_search a = {.visible = dh_xcalloc(places, sizeof *a.visible),
                            .is_joint = true,
                            .budget_ns = (c->until_ns - c->began_ns) / JOINT_PART,
                            .phases = joint_phases,
                            .n_phases = sizeof joint_phases / sizeof *joint_phases};
    if (c->terms.o->marks)
        memcpy(a.visible, c->terms.o->marks, (places - 1) * sizeof *a.visible);
    if (!c->terms.o->strategy && !c->terms.o->no_hint && add_goals(c, &a) >= LEAST_GOALS)
        dh_campaign_pursue_in_rounds(c, &a);
    dh_campaign_goal_search_release(&a);
}
