/* The stage of check that heals: a policy for the findings that matter, offered first, then verified. */
#include "base/alloc.h"
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
           dh_healing_offer(h, err) && (!h->draft.sections.n || dh_healing_verify(h, err));
}

static const char *why_not(const struct dh_healing *h)
{
    const struct dh_heal_verified *v = &h->outcome.verified;
    for (size_t i = 0; !v->why && i < v->n; i++)
        if (v->refuted[i].why)
            return v->refuted[i].why;
    return v->why ? v->why : h->draft.rest.n ? h->draft.rest.at[0].why : first_notice;
}

static void report(struct dh_stage_state *t, const struct dh_check *c, unsigned asked, size_t left_out, const char *why)
{
    char rest[64] = "";
    if (left_out)
        snprintf(rest, sizeof rest, "; %zu more not tried: deadheat heal", left_out);
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
        dh_stage_say(t, "%u of %u verified, %u offered without%s", verified, asked, offered, rest);
    else if (verified)
        dh_stage_say(t, "%u of %u verified%s", verified, asked, rest);
    else if (*why)
        dh_stage_say(t, "nothing is healed: %s%s", why, rest);
    dh_found_release(&now);
}

/* ---- which ---- */

/* Making a policy safe takes time for each section: what matters most comes first, and with it all that is known of the
 * same variables, which the same sections heal. */
enum { MOST_TRIED = 12 };

typedef DH_VEC(char *) id_vec;

static bool is_chosen(const struct dh_found *found, const bool *chosen, const struct dh_finding *f)
{
    for (size_t i = 0; f->variable[0] && i < found->at.n; i++)
        if (chosen[i] && strcmp(found->at.at[i]->variable, f->variable) == 0)
            return true;
    return false;
}

/* Answers how many are left out. */
static size_t choose(const struct dh_found *found, id_vec *ids)
{
    bool *chosen = dh_xcalloc(found->at.n + 1, sizeof *chosen);
    size_t n = 0, left_out = 0;
    for (size_t i = 0; i < found->at.n; i++) { /* by rank */
        chosen[i] = is_tried(found->at.at[i]) && n < MOST_TRIED;
        n += chosen[i];
    }
    for (size_t i = 0; i < found->at.n; i++) {
        struct dh_finding *f = found->at.at[i];
        if (!is_tried(f))
            continue;
        if (chosen[i] || is_chosen(found, chosen, f))
            dh_vec_push(ids, f->id);
        else
            left_out++;
    }
    free(chosen);
    return left_out;
}

static void heal_found(const struct dh_check_heal *s, char **ids, size_t n, size_t left_out, struct dh_stage_state *t)
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
    report(t, s->c, (unsigned)n, left_out, why_not(&h));
    dh_healing_release(&h);
    free(budget);
}

void dh_check_heal(void *arg, struct dh_stage_state *t)
{
    const struct dh_check_heal *s = arg;
    struct dh_found found;
    struct dh_err err = {0};
    id_vec ids = {0};
    if (!dh_check_found(s->c, &found, &err)) {
        dh_stage_fail(t, &err);
        return;
    }
    size_t left_out = choose(&found, &ids);
    dh_stage_now(t, "a policy for %zu findings, tried on their witnesses and by searches", ids.n);
    heal_found(s, ids.at, ids.n, left_out, t);
    dh_vec_release(&ids);
    dh_found_release(&found);
}
