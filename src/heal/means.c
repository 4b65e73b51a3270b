#include "heal/means.h"

#include "heal/safety.h"
#include "host/notice.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

bool dh_heal_is_needless(const struct dh_finding *f)
{
    if (f->verdict != DH_VERDICT_NO_FAILURE)
        return false;
    json_t *o = json_loads(f->classification, 0, NULL);
    bool searched = !json_is_true(json_object_get(o, "free_running"));
    json_decref(o);
    return searched;
}

/* The text of the first risk of that kind for the group, or NULL. */
static const char *risk_of(const struct dh_heal_risks *risks, const char *group, enum dh_heal_risk_kind kind)
{
    for (size_t i = 0; i < risks->at.n; i++)
        if (risks->at.at[i].kind == kind && strcmp(risks->at.at[i].group, group) == 0)
            return risks->at.at[i].text;
    return NULL;
}

/* Two groups that are entered inside each other get one lock. */
static bool joins(struct dh_draft *d, size_t group, const char *name)
{
    size_t other = dh_draft_find(d, name);
    if (other == SIZE_MAX || other == group || d->groups.at[group].means != DH_HEAL_LOCK ||
        d->groups.at[other].means != DH_HEAL_LOCK || !d->groups.at[other].variables.n)
        return false;
    dh_draft_join(d, group, other);
    return true;
}

static bool part_spanning(struct dh_draft *d, size_t group, const struct dh_heal_risks *risks)
{
    bool parted = false;
    for (size_t i = 0; i < risks->at.n; i++)
        if (risks->at.at[i].kind == DH_RISK_SPANS && strcmp(risks->at.at[i].group, d->groups.at[group].name) == 0)
            parted |= dh_draft_part(d, group, risks->at.at[i].section, risks->at.at[i].text);
    return parted;
}

/* One step towards safety; false: there is nothing to change. A cycle is broken when the group is entered before all
 * other locks, or when no section goes on after a critical section of the program; where neither helps, and with
 * waits, there can be no lock at all. */
static bool make_safer(struct dh_draft *d, size_t group, const struct dh_heal_risks *risks, bool must, bool notes)
{
    const struct dh_draft_group *g = &d->groups.at[group];
    const char *cycle = risk_of(risks, g->name, DH_RISK_CYCLE), *why = cycle;
    for (int k = DH_RISK_WAIT; !why && k < DH_RISK_KINDS; k++)
        why = risk_of(risks, g->name, (enum dh_heal_risk_kind)k);
    if (!why || g->means == DH_HEAL_SCHEDULE || !g->variables.n)
        return false;
    bool parted = false;
    for (size_t i = 0; !cycle && g->means == DH_HEAL_LOCK && i < risks->at.n; i++)
        if (risks->at.at[i].kind < DH_RISK_KINDS && risks->at.at[i].section[0] &&
            strcmp(risks->at.at[i].group, g->name) == 0)
            parted |= dh_draft_part(d, group, risks->at.at[i].section, risks->at.at[i].text);
    for (size_t i = 0; !cycle && g->means == DH_HEAL_ORDER && i < risks->at.n; i++)
        if (risks->at.at[i].kind < DH_RISK_KINDS && risks->at.at[i].section[0] &&
            strcmp(risks->at.at[i].group, g->name) == 0)
            parted |= dh_draft_wait_earlier(d, group, risks->at.at[i].section);
    if (parted)
        return true;
    for (size_t i = 0; cycle && i < risks->at.n; i++)
        if (risks->at.at[i].kind == DH_RISK_NEIGHBOUR && strcmp(risks->at.at[i].group, g->name) == 0 &&
            joins(d, group, risks->at.at[i].text))
            return true;
    if (cycle && g->is_split && part_spanning(d, group, risks))
        return true;
    bool hoisted = false;
    for (size_t i = 0; cycle && !g->is_split && i < risks->at.n; i++)
        if (risks->at.at[i].kind == DH_RISK_FUNCTION && strcmp(risks->at.at[i].group, g->name) == 0)
            hoisted |= dh_draft_hoist(d, group, risks->at.at[i].text);
    if (hoisted || (cycle && dh_draft_split(d, group)))
        return true;
    if (must || g->means == DH_HEAL_ORDER) {
        if (notes)
            dh_notice("heal: %s: not safe by %s: %s", g->name, must ? "the means that was asked for" : "order", why);
        dh_draft_drop(d, group, why);
    } else {
        if (notes)
            dh_notice("heal: %s: by schedule only, because with a lock %s", g->name, why);
        dh_draft_weaken(d, group, DH_HEAL_SCHEDULE, why);
    }
    return true;
}

bool dh_heal_choose(struct dh_draft *d, const char *program, const char *means, bool notes, struct dh_err *err)
{
    bool changed = true, must = strcmp(means, "auto") != 0 && strcmp(means, "schedule") != 0;
    for (size_t g = 0; strcmp(means, "schedule") == 0 && g < d->groups.n; g++)
        if (d->groups.at[g].means == DH_HEAL_LOCK)
            dh_draft_weaken(d, g, DH_HEAL_SCHEDULE, "nobody asked for one");
    for (int round = 0; changed && d->sections.n && round < 64; round++) {
        struct dh_heal_risks risks = {.at = {0}};
        char *text = dh_draft_print(d, program);
        bool ok = dh_heal_safety(program, text, strlen(text), &risks, err);
        free(text);
        changed = false;
        for (size_t g = 0; ok && g < d->groups.n; g++)
            changed |= make_safer(d, g, &risks, must, notes);
        for (size_t g = 0; ok && g < d->groups.n; g++)
            d->groups.at[g].by_object = risk_of(&risks, d->groups.at[g].name, DH_RISK_BY_OBJECT);
        dh_heal_risks_release(&risks);
        if (!ok)
            return dh_err_while(err, "checking that the policy is safe");
    }
    dh_draft_tidy(d);
    return true;
}
