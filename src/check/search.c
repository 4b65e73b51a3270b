/* Stages of check that prove: findings one after the other, or exploration without a goal. */
#include "base/set.h"
#include "check/chain.h"
#include "finding/group.h"
#include "finding/suppress.h"
#include "host/notice.h"
#include "launch/children_campaign.h"
#include "prove/goals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENOUGH = 500 }; /* schedules for a suspicion of static analysis */

#define PATIENCE_LEAST 1500000000ull /* for the comparison with a native run */

struct search {
    const struct dh_check_search *of;
    struct dh_stage_state *state;
    struct dh_subject subject;
    struct dh_suppressions suppressions;
    char *folder;
    uint64_t schedules, before; /* before: of all stages, when the campaign began */
    unsigned proven, observed, at, n;
};

/* ---- what the campaign asks ---- */

static bool interrupted(void *arg)
{
    struct search *s = arg;
    return atomic_load(&s->state->stop);
}

static void progress(void *arg, const struct dh_campaign_state *state)
{
    struct search *s = arg;
    char at[64] = "";
    uint64_t all = s->before + state->schedules;
    if (all > s->state->schedules) /* a stage that is killed made them, too */
        s->state->schedules = all;
    if (s->n)
        snprintf(at, sizeof at, "finding %u of %u, ", s->at < s->n ? s->at + 1 : s->n, s->n);
    dh_stage_now(s->state, "%s%llu schedules, %s, %u proven", at, (unsigned long long)(s->schedules + state->schedules),
                 state->strategy ? state->strategy : "beginning", s->proven);
}

static bool proven(void *arg, const struct dh_proof *proof)
{
    struct search *s = arg;
    struct dh_err err = {0};
    char *path = NULL;
    if (dh_suppressions_find(&s->suppressions, proof->finding))
        return true;
    bool ok = dh_proof_keep(proof, &s->subject, s->of->c->db, s->folder, &path, &err);
    struct dh_attempts *tried = dh_stage_tried(s->state, proof->finding->id);
    s->proven += ok && !tried->proven;
    tried->proven |= ok;
    if (!ok)
        dh_notice_err(&err);
    free(path);
    return ok;
}

static void observed(void *arg, const struct dh_finding *f)
{
    struct search *s = arg;
    struct dh_err err = {0};
    if (dh_suppressions_find(&s->suppressions, f))
        return;
    struct dh_attempts *tried = dh_stage_tried(s->state, f->id);
    bool ok = dh_observed_keep(f, &s->subject, s->of->c->db, &err);
    s->observed += ok && !tried->observed;
    tried->observed |= ok;
    if (!ok)
        dh_notice_err(&err);
}

/* ---- campaigns ---- */

/* Answers the status of exploring, if there are no goals. */
static enum dh_goal_status campaign(struct search *s, struct dh_goal *goals, size_t n, uint64_t budget_ns)
{
    struct dh_campaign_options o = {.budget_ns = budget_ns,
                                    .jobs = 1,
                                    .shards = 1,
                                    .seed = s->of->seed,
                                    .preemptions = UINT32_MAX,
                                    .schedules = s->of->c->schedules,
                                    .least_ns = dh_hosting_least_ns(&s->state->hosting),
                                    .accesses = s->state->hosting.accesses,
                                    .doubt = s->state->hosting.why[0] ? s->state->hosting.why : NULL};
    struct dh_campaign_host host = {progress, proven, observed, interrupted, s};
    struct dh_campaign_result r;
    struct dh_err err = {0};
    s->before = s->state->schedules;
    bool ok = dh_children_campaign(&s->subject, &o, goals, n, &host, &r, &err);
    enum dh_goal_status status = r.verdict;
    s->schedules += r.schedules;
    s->state->schedules = s->before + r.schedules;
    if (!ok && err.text)
        dh_notice_err(&err);
    dh_check_keep_child(&s->subject, s->state);
    if (r.no_threads && !r.schedules)
        snprintf(s->state->cannot, sizeof s->state->cannot, "it creates no threads");
    else if (r.cannot && !r.schedules)
        snprintf(s->state->cannot, sizeof s->state->cannot, "%s", r.cannot);
    dh_campaign_result_release(&r);
    return status;
}

static bool time_left(const struct search *s)
{
    return !s->state->cannot[0] && !atomic_load(&s->state->stop) && dh_now_ns() < s->of->until_ns;
}

static uint64_t at_most(const struct search *s, uint64_t ns)
{
    uint64_t now = dh_now_ns(), left = s->of->until_ns > now ? s->of->until_ns - now : 1;
    return ns < left ? ns : left;
}

/* What the campaign has shown of the goal, which had its share of the time. */
static void take_status(struct search *s, const struct dh_goal *g, uint64_t spent_ns, uint64_t schedules)
{
    struct dh_attempts *tried = dh_stage_tried(s->state, g->finding->id);
    enum dh_goal_status v = g->verdict;
    s->at += v != DH_GOAL_OPEN;
    tried->spent_ns += spent_ns;
    tried->settled |= v == DH_GOAL_REFUTED || v == DH_GOAL_EXHAUSTED || v == DH_GOAL_SKIPPED || v == DH_GOAL_PROVEN ||
                      v == DH_GOAL_UNCOVERED || v == DH_GOAL_COUNTED;
    tried->settled |= s->of->c->schedules > 0;
    tried->settled |= s->of->statics && schedules >= ENOUGH; /* more time would not help */
}

static bool is_proven(const struct search *s, const struct dh_finding *f)
{
    return f->level == DH_LEVEL_PROVEN || dh_stage_tried(s->state, f->id)->proven;
}

/* Findings of one group share a witness (finding/group.h): the others need no time. */
static void settle_groups(const struct search *s, const struct dh_found *found)
{
    struct dh_u64_set shown = {0};
    for (size_t i = 0; i < found->at.n; i++)
        if (is_proven(s, found->at.at[i]) && dh_finding_group(found->at.at[i]))
            dh_u64_set_add(&shown, dh_finding_group(found->at.at[i]));
    for (size_t i = 0; shown.n && i < found->at.n; i++)
        if (dh_finding_group(found->at.at[i]) && dh_u64_set_has(&shown, dh_finding_group(found->at.at[i])))
            dh_stage_tried(s->state, found->at.at[i]->id)->settled = true;
    dh_u64_set_release(&shown);
}

/* Other pairs of places of a variable with a proven race come later. */
static bool is_shown(const struct search *s, const struct dh_found *found, const struct dh_finding *f)
{
    for (size_t i = 0; f->variable[0] && i < found->at.n; i++) {
        const struct dh_finding *g = found->at.at[i];
        if (g->kind == f->kind && strcmp(g->variable, f->variable) == 0 && is_proven(s, g))
            return true;
    }
    return false;
}

static bool is_to_pursue(const struct search *s, const struct dh_found *found, const struct dh_finding *f, bool shown)
{
    return dh_check_is_goal(s->of->c, f, s->of->statics) && !dh_stage_tried(s->state, f->id)->proven &&
           is_shown(s, found, f) == shown;
}

/* Suspicions of static analysis one by one, what was observed together: one schedule may show several. */
static void pursue_next(struct search *s, const struct dh_found *found, bool shown, size_t *from)
{
    size_t most = s->of->statics ? 1 : found->at.n, n = 0;
    struct dh_goal *goals = dh_xcalloc(found->at.n + 1, sizeof *goals);
    for (; *from < found->at.n && n < most; ++*from)
        if (is_to_pursue(s, found, found->at.at[*from], shown))
            goals[n++] = (struct dh_goal){.finding = found->at.at[*from], .why = dh_strdup("")};
    uint64_t began = dh_now_ns(), before = s->schedules;
    if (n)
        campaign(s, goals, n, at_most(s, n * s->of->goal_ns));
    for (size_t i = 0; i < n; i++) {
        take_status(s, &goals[i], (dh_now_ns() - began) / n,
                    goals[i].schedules ? goals[i].schedules : s->schedules - before);
        free(goals[i].why);
    }
    free(goals);
}

static void pursue_those(struct search *s, const struct dh_found *found, bool shown)
{
    for (size_t at = 0; at < found->at.n && time_left(s);) {
        pursue_next(s, found, shown, &at);
        settle_groups(s, found);
    }
}

/* In the order in which they were found. */
static void pursue_all(struct search *s)
{
    struct dh_found found;
    struct dh_err err = {0};
    if (!dh_check_found(s->of->c, &found, &err)) {
        dh_notice_err(&err);
        return;
    }
    settle_groups(s, &found);
    for (size_t i = 0; i < found.at.n; i++)
        s->n += dh_check_is_goal(s->of->c, found.at.at[i], s->of->statics);
    pursue_those(s, &found, false);
    if (s->of->thorough)
        pursue_those(s, &found, true);
    dh_found_release(&found);
}

static void report(struct search *s)
{
    if (s->state->cannot[0]) {
        char *words = dh_subject_explain_places(&s->subject, s->state->cannot);
        dh_stage_say(s->state, "%s%s", dh_starts_with(words, "cannot ") ? "" : "cannot be searched: ", words);
        free(words);
        return;
    }
    char seen[96] = "";
    if (s->observed)
        snprintf(seen, sizeof seen, ", %u more observed", s->observed);
    if (s->subject.children.at.n)
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), " in %zu child process%s", s->subject.children.at.n,
                 s->subject.children.at.n == 1 ? "" : "es");
    if (s->of->explores)
        dh_stage_say(s->state, "%u proven%s by %llu schedules of everything%s", s->proven, seen,
                     (unsigned long long)s->schedules, s->state->exhausted ? ", which are all there are" : "");
    else
        dh_stage_say(s->state, "%u proven%s, %u of %u looked for, %llu schedules", s->proven, seen, s->at, s->n,
                     (unsigned long long)s->schedules);
}

static void search(struct search *s)
{
    struct dh_err err = {0};
    const struct dh_check *c = s->of->c;
    if (c->suppressions && !dh_suppressions_read(&s->suppressions, c->suppressions, &err))
        dh_notice_err(&err);
    dh_err_release(&err);
    s->folder = dh_witness_folder(c->db);
    if (!s->of->explores)
        pursue_all(s);
    else {
        enum dh_goal_status v = campaign(s, NULL, 0, at_most(s, UINT64_MAX));
        s->state->exhausted |= v == DH_GOAL_EXHAUSTED;
        s->state->explored |= v == DH_GOAL_EXHAUSTED || v == DH_GOAL_REFUTED || v == DH_GOAL_UNCOVERED;
    }
    report(s);
    free(s->folder);
    dh_suppressions_release(&s->suppressions);
}

/* Two runs of that length fit into the time for preparing; on a busy machine a short one is no evidence of a hang. */
static uint64_t patience_of(const struct dh_check *c)
{
    uint64_t now = dh_now_ns(), end = c->began_ns + c->budget_ns, part = end > now ? (end - now) / 8 : 1;
    uint64_t most = dh_hosting_patience(c->budget_ns);
    return part < PATIENCE_LEAST ? PATIENCE_LEAST : part < most ? part : most;
}

/* It was seen to make threads: what it did to files, or something else that outlives it, stands in its way now. */
static void say_changed(struct dh_hosting_check *h)
{
    char *why = dh_strdup(h->why);
    h->verdict = DH_HOSTING_WRONG;
    snprintf(
        h->why, sizeof h->why,
        "it created threads when it was run, and none when it was run again: %s. What a run leaves behind, such as "
        "a file that it makes, may stand in the way of the next: begin without that, and let it write to standard "
        "output or to a new name each time",
        why);
    free(why);
}

/* Once for all stages: what comes of searching a program that is another one in the engine is nothing. */
static void compare_with_native(const struct dh_check *c, struct dh_subject *s, struct dh_stage_state *t)
{
    struct dh_err err = {0};
    dh_stage_now(t, DH_CHECK_COMPARING);
    if (!dh_hosting_check(s, patience_of(c), &t->hosting, &err))
        dh_notice_err(&err);
    bool made_threads = t->made_threads || c->is_part; /* only what did is a part */
    if (t->hosting.verdict == DH_HOSTING_NO_THREADS && !s->children.at.n && made_threads)
        say_changed(&t->hosting);
    if (t->hosting.verdict == DH_HOSTING_NO_THREADS && !s->children.at.n)
        snprintf(t->cannot, sizeof t->cannot, "it creates no threads");
    else if (t->hosting.verdict == DH_HOSTING_WRONG)
        snprintf(t->cannot, sizeof t->cannot, "%.*s", DH_STAGE_WORDS - 1, t->hosting.why);
    if (t->hosting.verdict != DH_HOSTING_NO_THREADS)
        dh_stage_say(t, "%s", t->hosting.why[0] ? t->hosting.why : t->hosting.note);
}

void dh_check_prepare(void *arg, struct dh_stage_state *t)
{
    struct search s = {.of = arg, .state = t};
    dh_stage_now(t, "making the variant that schedules are searched with");
    if (dh_check_open_subject(s.of->c, &s.subject, t)) {
        compare_with_native(s.of->c, &s.subject, t);
        dh_subject_release(&s.subject);
    } else
        snprintf(t->cannot, sizeof t->cannot, "there is no variant of it to search with");
}

void dh_check_search(void *arg, struct dh_stage_state *t)
{
    struct search s = {.of = arg, .state = t};
    if (!dh_check_open_subject(s.of->c, &s.subject, t)) {
        snprintf(t->cannot, sizeof t->cannot, "there is no variant of it to search with");
        return;
    }
    search(&s);
    dh_subject_release(&s.subject);
}
