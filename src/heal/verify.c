#include "heal/verify.h"

#include "base/alloc.h"
#include "base/str.h"
#include "classify/trial.h"
#include "finding/store.h"
#include "heal/apply.h"
#include "heal/noise_trial.h"
#include "host/file.h"
#include "host/notice.h"
#include "host/process.h"
#include "launch/children_campaign.h"
#include "launch/open_subject.h"
#include "launch/witness_run.h"
#include "prove/baseline.h"
#include "prove/goals.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BASELINE_NS 500000000ull

/* A verification in progress. */
struct verifying {
    const struct dh_heal_verifying *v;
    struct dh_heal_verified *out;
    char *folder;                                       /* of its stores */
    char *plan;                                         /* the engine's, with the policy */
    enum hosted { UNKNOWN, HOSTED, NOT_HOSTED } hosted; /* what the first search has found out for all */
};

static void fail(struct dh_heal_verified *out, char *why)
{
    if (!out->why)
        out->why = why;
    else
        free(why);
}

static void refute(struct dh_heal_verified *out, size_t finding, bool directly, char *why)
{
    struct dh_heal_refuted *r = &out->refuted[finding];
    r->directly |= directly;
    if (!r->why)
        r->why = why;
    else
        free(why);
}

static size_t count_refuted(struct dh_heal_verified *out)
{
    out->n_refuted = 0;
    for (size_t i = 0; i < out->n; i++)
        out->n_refuted += out->refuted[i].why != NULL;
    return out->n_refuted;
}

/* ---- witnesses ---- */

enum replayed { NOT_REPLAYED, SAME_END, OTHER_END };

struct replay {
    const struct verifying *y;
    const char *witness;
    enum replayed *result; /* shared with the child */
};

static bool replay_once(struct dh_witness_run *run, const struct replay *r, struct dh_err *err)
{
    struct dh_str why = {0};
    bool ours, same = false;
    if (!dh_witness_run_read(run, r->witness, &ours, err))
        return false;
    bool ok = (ours || dh_err_set(err, "%s was not made by you here", r->witness)) &&
              dh_witness_run_open(run, r->y->v->argv[0], r->y->plan, true, err) &&
              dh_witness_run_once(run, &same, &why, err);
    dh_str_release(&why);
    if (ok)
        *r->result = same ? SAME_END : OTHER_END;
    return ok;
}

static bool replay_in_child(void *arg, struct dh_err *err)
{
    struct dh_witness_run run = {0};
    bool ok = replay_once(&run, arg, err);
    dh_witness_run_release(&run);
    return ok;
}

static bool replay(struct verifying *y, size_t finding, const char *witness, const char *whose, struct dh_err *err)
{
    const struct dh_finding *f = y->v->findings[finding];
    struct dh_err why = {0};
    struct replay r = {y, witness, dh_shared_alloc(sizeof *r.result, err)};
    if (!r.result)
        return false;
    if (!dh_child_run("replaying a witness under the policy", replay_in_child, &r, &why))
        dh_notice("heal: %s", why.text ? why.text : witness);
    dh_err_release(&why);
    if (*r.result == SAME_END)
        refute(y->out, finding, true, dh_format("%s of %.8s comes to its end under the policy", whose, f->id));
    else if (*r.result == OTHER_END)
        y->out->witnesses++;
    else
        refute(y->out, finding, false, dh_format("%s of %.8s cannot be replayed", whose, f->id));
    dh_shared_free(r.result, sizeof *r.result);
    return true;
}

/* Of a race, the run that shows its harm: that two accesses are kept apart does not put them into the right order. */
static char *failing_run(const struct dh_finding *f)
{
    json_t *o = json_loads(f->classification, 0, NULL);
    const char *path = json_string_value(json_object_get(o, "witness"));
    bool other = path && *path && strcmp(path, f->witness) != 0 && f->verdict == DH_VERDICT_DESTRUCTIVE;
    char *copy = other && dh_file_exists(path) ? dh_strdup(path) : NULL;
    json_decref(o);
    return copy;
}

/* ---- the search ---- */

struct judging {
    const struct dh_heal_verifying *v;
    struct dh_heal_verified *out;
};

static bool may_do_harm(const struct dh_finding *f)
{
    return f->verdict != DH_VERDICT_QOS && f->verdict != DH_VERDICT_NO_FAILURE;
}

static bool is_failure(const struct dh_finding *f)
{
    return f->kind == DH_FINDING_CRASH || f->kind == DH_FINDING_ASSERTION || f->kind == DH_FINDING_USE_AFTER_FREE;
}

static bool share_a_place(const struct dh_finding *a, const struct dh_finding *b)
{
    for (size_t i = 0; i < a->accesses.n; i++)
        for (size_t k = 0; k < b->accesses.n; k++) {
            const struct dh_finding_stack *one = &a->accesses.at[i].stack, *other = &b->accesses.at[k].stack;
            if (one->frames.n && other->frames.n && one->frames.at[0].line == other->frames.at[0].line &&
                strcmp(one->frames.at[0].function, other->frames.at[0].function) == 0)
                return true;
        }
    return false;
}

/* What fails under the policy fails because of what it is to heal if it is about the same, or if nothing else is known
 * that could. */
static void blame(struct judging *j, const struct dh_finding *failure)
{
    for (size_t i = 0; i < j->v->n; i++) {
        const struct dh_finding *f = j->v->findings[i];
        bool same = (failure->variable[0] && strcmp(f->variable, failure->variable) == 0) || share_a_place(f, failure);
        if (same || (j->v->complete && may_do_harm(f)))
            refute(j->out, i, same,
                   dh_format("the program still fails under the policy (%s%s%s)", dh_finding_kind_name(failure->kind),
                             failure->text[0] ? ": " : "", failure->text));
    }
}

/* Failures among the findings refute the others, too. */
static void blame_failures(const struct dh_heal_verifying *v, struct dh_heal_verified *out)
{
    struct judging j = {v, out};
    for (size_t i = 0; i < v->n; i++)
        if (out->refuted[i].directly && is_failure(v->findings[i]))
            blame(&j, v->findings[i]);
}

/* It is there without the policy as well, and nobody says that it is healed. */
static bool is_known(const struct dh_heal_verifying *v, const struct dh_finding *f)
{
    for (size_t i = 0; i < v->n_known; i++)
        if (strcmp(v->known[i]->id, f->id) == 0)
            return true;
    return false;
}

static void judge(void *arg, const struct dh_finding *f)
{
    struct judging *j = arg;
    if (f->level != DH_LEVEL_PROVEN)
        return;
    for (size_t i = 0; i < j->v->n; i++)
        if (strcmp(j->v->findings[i]->id, f->id) == 0) {
            refute(j->out, i, true, dh_format("%.8s can still be proven", f->id));
            if (is_failure(f))
                blame(j, f);
            return;
        }
    if (is_failure(f))
        blame(j, f);
    else if (f->kind == DH_FINDING_DEADLOCK && !is_known(j->v, f))
        fail(j->out, dh_format("a deadlock that was not there can be proven: deadheat prove --explore --heal=%s",
                               j->v->policy));
}

static bool judge_store(const char *db, struct judging *j, struct dh_err *err)
{
    struct dh_store_choice all = {0};
    if (!dh_file_exists(db))
        return true;
    struct dh_store *store = dh_store_open(db, DH_STORE_READ, err);
    bool ok = store && dh_store_each(store, &all, judge, j, err);
    dh_store_close(store);
    return ok;
}

/* A store in which what is healed is still to be proven: the goals of the search. */
static bool set_goals(const struct dh_heal_verifying *v, const char *db, struct dh_err *err)
{
    struct dh_store *store = dh_store_open(db, DH_STORE_WRITE, err);
    struct dh_store_run run = {v->argv[0], "", 0};
    long long id;
    bool ok = store && dh_store_begin(store, &run, &id, err);
    for (size_t i = 0; ok && i < v->n; i++) {
        struct dh_finding open = *v->findings[i];
        open.level = DH_LEVEL_OBSERVED;
        open.witness = (char *)"";
        ok = dh_store_add(store, id, &open, err);
    }
    ok = ok && dh_store_commit(store, err);
    dh_store_close(store);
    return ok;
}

enum goal { GOALS, EVERYTHING, WRONG_ENDS };

struct search {
    const struct verifying *y;
    enum goal goal;
    char *db;
    struct search_result {
        bool searched;
        enum hosted hosted;
        uint64_t schedules;
        char summary[1000];
    } *result; /* shared with the child */
};

/* In the child: the store is what it has beside the result. */
struct searching {
    const struct search *of;
    struct dh_subject subject;
    struct dh_goals goals;
    char *folder; /* of witnesses */
};

static void progress(void *arg, const struct dh_campaign_state *state)
{
    const struct searching *s = arg;
    if (s->of->y->v->progress)
        s->of->y->v->progress(state);
}

static bool proven(void *arg, const struct dh_proof *proof)
{
    struct searching *s = arg;
    struct dh_err err = {0};
    char *path;
    bool ok = dh_proof_keep(proof, &s->subject, s->of->db, s->folder, &path, &err);
    if (!ok)
        dh_notice_err(&err);
    free(path);
    return ok;
}

static bool interrupted(void *arg)
{
    (void)arg;
    return false;
}

static bool run_campaign(struct searching *s, struct dh_campaign_options *o, struct dh_err *err)
{
    struct dh_campaign_host host = {progress, proven, NULL, interrupted, s};
    struct search_result *out = s->of->result;
    struct dh_campaign_result r;
    struct dh_str summary = {0};
    bool ok = dh_children_campaign(&s->subject, o, s->goals.goals.at, s->goals.goals.n, &host, &r, err);
    out->searched = ok && (r.proven || (!r.no_threads && !r.late && !(r.cannot && !r.schedules)));
    out->schedules = r.schedules;
    if (ok && r.cannot)
        dh_notice("heal: %s: %s", s->subject.called, r.cannot);
    if (out->searched)
        dh_campaign_summary(&summary, &r, o, s->goals.goals.n);
    snprintf(out->summary, sizeof out->summary, "%s", summary.at ? summary.at : "");
    dh_str_release(&summary);
    dh_campaign_result_release(&r);
    return ok;
}

/* A program without a right end has no wrong one. */
static bool search_wrong_ends(struct searching *s, struct dh_campaign_options *o, struct dh_err *err)
{
    struct dh_baseline right;
    bool ok = true;
    if (dh_baseline_collect_status(&right, &s->subject, BASELINE_NS)) {
        struct dh_adversary_setup judged = dh_baseline_adversary(&right, "", NULL);
        o->judged = &judged;
        o->first = true;
        ok = run_campaign(s, o, err);
    }
    dh_baseline_release(&right);
    return ok;
}

/* A program that comes to something else in the engine is not verified by searching it there. */
static bool is_hosted(struct searching *s, uint64_t budget_ns, struct dh_err *err)
{
    struct dh_hosting_check h;
    if (s->of->y->hosted != UNKNOWN)
        return s->of->y->hosted == HOSTED;
    if (dh_hosting_check(&s->subject, dh_hosting_patience(budget_ns), &h, err) && h.verdict != DH_HOSTING_WRONG)
        return true;
    if (!err->text)
        dh_notice("heal: %s: %s", s->subject.called, h.why);
    return false;
}

static bool search_in_child(void *arg, struct dh_err *err)
{
    struct searching s = {.of = arg};
    const struct verifying *y = s.of->y;
    struct dh_campaign_options o = {.budget_ns = y->v->budget_ns,
                                    .schedules = y->v->schedules,
                                    .jobs = 1,
                                    .shards = 1,
                                    .seed = 1,
                                    .preemptions = UINT32_MAX};
    unsigned proven_before;
    if (!dh_open_subject(y->plan, "heal", y->v->argv, NULL, &s.subject, err)) {
        dh_notice_err(err);
        return true; /* not searched, as the result says */
    }
    struct dh_goals_wanted wanted = {.db = s.of->db, .program = s.subject.program, .build = s.subject.build};
    s.folder = dh_witness_folder(s.of->db);
    bool hosted = is_hosted(&s, o.budget_ns, err);
    s.of->result->hosted = hosted ? HOSTED : NOT_HOSTED;
    bool ok = !err->text && (s.of->goal != GOALS || dh_goals_read(&s.goals, &wanted, &proven_before, err));
    if (ok && hosted)
        ok = s.of->goal == WRONG_ENDS ? search_wrong_ends(&s, &o, err) : run_campaign(&s, &o, err);
    dh_goals_release(&s.goals);
    dh_subject_release(&s.subject);
    free(s.folder);
    if (!ok)
        dh_notice_err(err);
    return true;
}

static void take_result(struct verifying *y, const struct search_result *r)
{
    free(y->out->search);
    y->out->search = dh_strdup(r->summary);
    /* Not one schedule within the budget says as little as none at all. */
    y->out->unsearched |= !r->searched || !r->schedules;
}

static bool search(struct verifying *y, enum goal goal, struct dh_err *err)
{
    static const char *const names[] = {"goals", "healed", "ends"};
    struct judging j = {y->v, y->out};
    struct search s = {.y = y, .goal = goal, .db = dh_format("%s/%s.db", y->folder, names[goal])};
    s.result = dh_shared_alloc(sizeof *s.result, err);
    bool ok = s.result && (goal != GOALS || set_goals(y->v, s.db, err)) &&
              dh_child_run("searching under the policy", search_in_child, &s, err) && judge_store(s.db, &j, err);
    if (s.result && !s.result->hosted)
        s.result->hosted = y->hosted;
    y->hosted = s.result ? s.result->hosted : UNKNOWN;
    if (ok && goal != WRONG_ENDS) /* which not every program can be searched for */
        take_result(y, s.result);
    if (s.result)
        dh_shared_free(s.result, sizeof *s.result);
    free(s.db);
    return ok;
}

/* First for what is healed, then for what should not be there; a wrong result is no end that stands out by itself. */
static bool search_all(struct verifying *y, struct dh_err *err)
{
    const struct dh_heal_verified *out = y->out;
    bool harm = false;
    for (size_t i = 0; i < y->v->n; i++)
        harm |= may_do_harm(y->v->findings[i]);
    return (!y->v->n || search(y, GOALS, err)) && (out->why || out->unsearched || search(y, EVERYTHING, err)) &&
           (out->why || out->unsearched || !harm || !y->v->complete || search(y, WRONG_ENDS, err));
}

/* What the engine cannot search can still be run. */
static void try_runs(struct verifying *y)
{
    struct dh_noise_trial t;
    char *db = dh_format("%s/goals.db", y->folder);
    dh_noise_trial_run(y->v, db, &t);
    free(db);
    char *words = dh_format("it cannot be searched; of %u runs under noise %u fail without the policy and %u with it",
                            t.runs, t.before, t.after);
    free(y->out->search);
    y->out->search = NULL;
    if (dh_noise_trial_holds(&t))
        y->out->search = words;
    else
        fail(y->out, words);
}

static bool replay_all(struct verifying *y, struct dh_err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && i < y->v->n; i++) {
        const struct dh_finding *f = y->v->findings[i];
        char *failing = failing_run(f);
        if (f->witness[0] && dh_file_exists(f->witness))
            ok = replay(y, i, f->witness, "the witness", err);
        if (ok && failing)
            ok = replay(y, i, failing, "the failing run", err);
        free(failing);
    }
    blame_failures(y->v, y->out);
    return ok;
}

static bool verify(struct verifying *y, struct dh_err *err)
{
    const struct dh_heal_verifying *v = y->v;
    struct dh_heal_verified *out = y->out;
    if (!replay_all(y, err) || (!(v->hasty && count_refuted(out)) && !search_all(y, err)))
        return false;
    if (out->unsearched && !out->why && v->n)
        try_runs(y);
    else if (out->unsearched)
        fail(out, dh_strdup("the program cannot be searched"));
    return true;
}

bool dh_heal_verify(const struct dh_heal_verifying *v, struct dh_heal_verified *out, struct dh_err *err)
{
    *out = (struct dh_heal_verified){.n = v->n, .refuted = dh_xcalloc(v->n, sizeof *out->refuted)};
    struct verifying y = {.v = v, .out = out, .folder = dh_temp_folder(err)};
    if (y.folder)
        y.plan = dh_policy_apply(v->policy, false, DH_ENGINE_PLAN, v->argv[0], err);
    bool ok = y.plan && verify(&y, err);
    out->holds = ok && !out->why;
    out->holds &= !count_refuted(out);
    if (y.folder)
        dh_remove_tree(y.folder);
    free(y.folder);
    free(y.plan);
    return ok;
}

void dh_heal_verified_release(struct dh_heal_verified *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->refuted[i].why);
    free(r->refuted);
    free(r->why);
    free(r->search);
}
