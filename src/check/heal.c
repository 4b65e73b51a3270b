/* The stage of check that heals: a policy for the findings that matter, offered first, then verified. */
#include "check/chain.h"
#include "heal/healing.h"
#include "host/notice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Failures that others lead to are verified along with them: they must not happen any more. */
static bool is_tried(const struct dh_finding *f)
{
    return dh_check_is_healable(f) || (dh_found_is_failure(f) && f->witness[0] && f->healing != DH_HEALING_VERIFIED);
}

static char first_notice[DH_STAGE_WORDS]; /* of this child: why nothing is healed, if nothing is */

static void keep_first(const char *line)
{
    if (!first_notice[0])
        snprintf(first_notice, sizeof first_notice, "%s", line);
}

/* The policy is written first, so that there is one whatever time is left. */
static bool heal(struct dh_healing *h, const struct dh_heal_job *job, struct dh_err *err)
{
    return dh_healing_open(h, job, err) && dh_healing_draft(h, err) && dh_healing_write(h, err) &&
           (!h->draft.sections.n || (dh_healing_offer(h, err) && dh_healing_verify(h, err)));
}

static const char *why_not(const struct dh_healing *h)
{
    const struct dh_heal_verified *v = &h->outcome.verified;
    for (size_t i = 0; !v->why && i < v->n; i++)
        if (v->refuted[i].why)
            return v->refuted[i].why;
    return v->why ? v->why : h->draft.rest.n ? h->draft.rest.at[0].why : first_notice;
}

static void report(struct dh_stage_state *t, const struct dh_check *c, unsigned asked, const char *why)
{
    struct dh_found now;
    struct dh_err err = {0};
    unsigned verified = 0, offered = 0;
    if (!dh_check_found(c, &now, &err)) {
        dh_err_release(&err);
        return;
    }
    for (size_t i = 0; i < now.at.n; i++) {
        verified += now.at.at[i]->healing == DH_HEALING_VERIFIED;
        offered += now.at.at[i]->healing == DH_HEALING_OFFERED;
    }
    if (offered)
        dh_stage_say(t, "%u of %u verified, %u offered without", verified, asked, offered);
    else if (verified)
        dh_stage_say(t, "%u of %u verified", verified, asked);
    else if (*why)
        dh_stage_say(t, "nothing is healed: %s", why);
    dh_found_release(&now);
}

static void heal_found(const struct dh_check_heal *s, char **ids, size_t n, struct dh_stage_state *t)
{
    char *budget = dh_format("%llums", (unsigned long long)(s->budget_ns / 1000000u));
    struct dh_heal_job job = {.db = s->c->db,
                              .output = s->c->policy,
                              .means = "auto",
                              .budget = budget,
                              .budget_ns = s->budget_ns,
                              .schedules = s->c->schedules,
                              .argv = s->c->argv,
                              .ids = ids,
                              .n_ids = n};
    struct dh_healing h;
    struct dh_err err = {0};
    dh_notices_print_by(keep_first);
    if (!heal(&h, &job, &err))
        dh_stage_fail(t, &err);
    report(t, s->c, (unsigned)n, why_not(&h));
    dh_healing_release(&h);
    free(budget);
}

void dh_check_heal(void *arg, struct dh_stage_state *t)
{
    const struct dh_check_heal *s = arg;
    struct dh_found found;
    struct dh_err err = {0};
    DH_VEC(char *) ids = {0};
    if (!dh_check_found(s->c, &found, &err)) {
        dh_stage_fail(t, &err);
        return;
    }
    for (size_t i = 0; i < found.at.n; i++)
        if (is_tried(found.at.at[i]))
            dh_vec_push(&ids, found.at.at[i]->id);
    dh_stage_now(t, "a policy for %zu findings, tried on their witnesses and by searches", ids.n);
    heal_found(s, ids.at, ids.n, t);
    dh_vec_release(&ids);
    dh_found_release(&found);
}
