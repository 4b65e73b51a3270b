/* The stage of check that gives verdicts: races by adversarial memory, failures by their witness. */
#include "check/chain.h"
#include "classify/keep.h"
#include "host/notice.h"
#include "prove/goals.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 25, THOROUGH_RUNS = 100, RUNS_NEEDED = 48 };
#define BASELINE_MOST_NS 4000000000ull
#define LEAST_NS 300000000ull /* for a variable; of many, the last ones get no time */

struct classifying {
    const struct dh_check_classify *of;
    struct dh_stage_state *state;
    struct dh_subject subject;
    char *folder;
    uint64_t until_ns;
    unsigned verdicts[DH_VERDICT_COUNT], at, n, proven;
};

static void count(struct classifying *c, enum dh_finding_verdict verdict)
{
    c->verdicts[verdict]++;
}

/* ---- what the campaign asks ---- */

static bool interrupted(void *arg)
{
    const struct classifying *c = arg;
    return atomic_load(&c->state->stop) || dh_now_ns() >= c->until_ns;
}

static void progress(void *arg, const char *variable, const char *what, uint64_t left_ns)
{
    struct classifying *c = arg;
    (void)left_ns;
    if (variable)
        dh_stage_now(c->state, "variable %u of %u, %s, %s", c->at < c->n ? c->at + 1 : c->n, c->n, variable, what);
}

static bool classified(void *arg, const struct dh_classified *d)
{
    struct classifying *c = arg;
    struct dh_err err = {0};
    char *path = NULL;
    bool ok = dh_classified_keep(d, &c->subject, c->of->c->db, c->folder, &path, &err);
    if (!ok)
        dh_notice_err(&err);
    c->at++;
    count(c, d->verdict);
    for (size_t i = 0; i < d->variable->findings.n; i++)
        dh_stage_tried(c->state, d->variable->findings.at[i]->id)->verdicts = c->of->thorough ? 2 : 1;
    free(path);
    return ok;
}

/* ---- races ---- */

static bool collect(struct classifying *c, struct dh_baseline *b, uint64_t time_ns, struct dh_err *err)
{
    if (c->state->hosting.verdict != DH_HOSTING_WRONG)
        return dh_baseline_collect(b, &c->subject, time_ns, err);
    *b = (struct dh_baseline){.cannot = dh_strdup(c->state->hosting.why)};
    return true;
}

/* Some variables with a verdict are worth more than many that were begun: all heuristics need a few runs each. */
static uint64_t time_for_each(uint64_t share_ns, uint64_t run_ns)
{
    uint64_t needed = run_ns * RUNS_NEEDED;
    share_ns = share_ns > LEAST_NS ? share_ns : LEAST_NS;
    return share_ns > needed ? share_ns : needed;
}

/* A program that the engine cannot host runs free. */
static void run_campaign(struct classifying *c, struct dh_racy_variables *v)
{
    struct dh_classify_host host = {progress, classified, interrupted, c};
    struct dh_baseline b;
    struct dh_err err = {0};
    uint64_t budget = c->of->budget_ns, began = dh_now_ns();
    struct dh_classify_options o = {
        .seed = 1, .runs = c->of->thorough ? THOROUGH_RUNS : RUNS, .alone = !c->of->thorough};
    c->n = (unsigned)v->at.n;
    c->until_ns = UINT64_MAX;
    progress(c, "baseline", "every variable as it is", budget);
    const struct dh_hosting_check *h = &c->state->hosting;
    bool ok = collect(c, &b, budget / 3 < BASELINE_MOST_NS ? budget / 3 : BASELINE_MOST_NS, &err);
    o.budget_ns = time_for_each(budget / v->at.n, ok && !b.cannot ? b.longest_ns : 0);
    o.free = ok && b.cannot;
    o.doubt = h->verdict == DH_HOSTING_DOUBTFUL ? h->why : NULL;
    c->until_ns = began + budget;
    if (ok && !b.no_threads)
        ok = dh_classify(&c->subject, &b, v, &o, &host, &err);
    if (!ok && err.text)
        dh_notice_err(&err);
    dh_baseline_release(&b);
}

/* A variable is classified with all its findings, also those with a verdict already. */
static bool is_wanted(const struct classifying *c, const struct dh_racy_variable *v)
{
    for (size_t i = 0; i < v->findings.n; i++)
        if (dh_check_is_unclassified(c->of->c, v->findings.at[i], c->of->thorough))
            return true;
    return false;
}

static void classify_races(struct classifying *c, const struct dh_found *found)
{
    struct dh_racy_variables all = {0}, wanted = {0};
    for (size_t i = 0; i < found->at.n; i++)
        if (found->at.at[i]->kind == DH_FINDING_RACE && found->at.at[i]->level >= DH_LEVEL_OBSERVED)
            dh_racy_variables_add(&all, &c->subject, found->at.at[i]);
    for (size_t i = 0; i < all.at.n; i++)
        if (is_wanted(c, &all.at.at[i]))
            dh_vec_push(&wanted.at, all.at.at[i]);
        else
            dh_racy_variable_release(&all.at.at[i]);
    if (wanted.at.n)
        run_campaign(c, &wanted);
    dh_racy_variables_release(&wanted);
    dh_vec_release(&all.at);
}

/* ---- what follows from what is known ---- */

static void keep(struct classifying *c, const struct dh_finding *f, enum dh_finding_verdict verdict, const char *why)
{
    struct dh_err err = {0};
    if (dh_verdict_keep(f, c->of->c->program, c->of->c->db, verdict, why, f->witness, &err))
        count(c, verdict);
    else
        dh_notice_err(&err);
}

/* The failing run as a witness of it, "" for none; owned by the caller. */
static char *failing_run(const struct dh_finding *f)
{
    json_t *o = f->verdict == DH_VERDICT_DESTRUCTIVE ? json_loads(f->classification, 0, NULL) : NULL;
    const char *path = json_string_value(json_object_get(o, "witness"));
    char *witness = dh_strdup(path ? path : "");
    json_decref(o);
    return witness;
}

/* Racy accesses that are never pending at the same time, since racy synchronisation orders them in every schedule, are
 * proven by a failing run with a stale read, which replays. */
static void raise_by(struct classifying *c, const struct dh_finding *f, const char *witness)
{
    struct dh_err err = {0};
    struct dh_store_run run = {c->of->c->program, "", (long long)time(NULL)};
    struct dh_finding *copy = dh_finding_copy(f);
    copy->level = DH_LEVEL_PROVEN;
    dh_finding_set(&copy->detector, "classify");
    dh_finding_set(&copy->witness, witness);
    dh_finding_set(&copy->program, c->of->c->program);
    copy->last_seen = run.started;
    bool ok = dh_store_put(c->of->c->db, &run, copy, &err);
    dh_finding_release(copy);
    free(copy);
    if (ok)
        c->proven++;
    else
        dh_notice_err(&err);
}

static void raise_failing(struct classifying *c, const struct dh_finding *f)
{
    char *witness = f->level == DH_LEVEL_OBSERVED && f->kind == DH_FINDING_RACE ? failing_run(f) : NULL;
    if (witness && witness[0])
        raise_by(c, f, witness);
    free(witness);
}

static bool is_open(const struct dh_finding *f)
{
    return f->verdict == DH_VERDICT_NONE;
}

static bool has_site(const struct dh_finding *f, const char *site)
{
    for (size_t i = 0; i < f->accesses.n; i++)
        if (strcmp(f->accesses.at[i].site, site) == 0)
            return true;
    return false;
}

/* The race with the worst verdict at places of the finding, if there are races at all of them, and all have one or it
 * is the worst there is: the access in between is one that races, and stale values are the worst case of it. */
static const struct dh_finding *races_at(const struct dh_found *found, const struct dh_finding *f)
{
    const struct dh_finding *worst = NULL;
    bool all = true;
    for (size_t k = 0; k < f->accesses.n; k++) {
        bool races = false;
        for (size_t i = 0; i < found->at.n; i++) {
            const struct dh_finding *g = found->at.at[i];
            if (g->kind != DH_FINDING_RACE || g->level == DH_LEVEL_SUSPECTED || !has_site(g, f->accesses.at[k].site))
                continue;
            races = true;
            all &= g->verdict != DH_VERDICT_NONE;
            worst = g->verdict > (worst ? worst->verdict : DH_VERDICT_NONE) ? g : worst;
        }
        if (!races)
            return NULL;
    }
    return all || (worst && worst->verdict == DH_VERDICT_DESTRUCTIVE) ? worst : NULL;
}

/* A proven deadlock in which a thread waits there confirms the suspicion of the wait. */
static const struct dh_finding *deadlock_at(const struct dh_found *found, const struct dh_finding *f)
{
    if (f->kind != DH_FINDING_CRITICAL_WAIT && f->kind != DH_FINDING_INDEFINITE_WAIT)
        return NULL;
    for (size_t i = 0; i < found->at.n; i++) {
        const struct dh_finding *g = found->at.at[i];
        for (size_t k = 0; k < f->accesses.n; k++)
            if (dh_found_is_failure(g) && g->kind == DH_FINDING_DEADLOCK && strcmp(f->accesses.at[k].op, "wait") == 0 &&
                has_site(g, f->accesses.at[k].site))
                return g;
    }
    return NULL;
}

/* A proven use after free at the access that races with free is that race in the other order. Stale values cannot show
 * it. */
static const struct dh_finding *use_after(const struct dh_found *found, const struct dh_finding *f)
{
    const struct dh_finding_access *a = f->accesses.at;
    if (f->kind != DH_FINDING_RACE || f->accesses.n != 2 || f->level == DH_LEVEL_SUSPECTED)
        return NULL;
    bool first = strcmp(a[0].op, "free") == 0;
    if (!first && strcmp(a[1].op, "free") != 0)
        return NULL;
    for (size_t i = 0; i < found->at.n; i++) {
        const struct dh_finding *g = found->at.at[i];
        if (dh_found_is_failure(g) && g->kind == DH_FINDING_USE_AFTER_FREE && has_site(g, a[first].site))
            return g;
    }
    return NULL;
}

/* ---- all of it ---- */

static void conclude_of(struct classifying *c, const struct dh_found *found, const struct dh_finding *f)
{
    const struct dh_finding *other;
    if (dh_found_is_failure(f) && is_open(f))
        keep(c, f, DH_VERDICT_DESTRUCTIVE, "the schedule that proves it ends in failure");
    else if (f->kind == DH_FINDING_ATOMICITY && is_open(f) && (other = races_at(found, f)))
        keep(c, f, other->verdict, "what the races at the same places came to");
    else if (f->level < DH_LEVEL_PROVEN && (other = deadlock_at(found, f))) {
        raise_by(c, f, other->witness);
        keep(c, f, DH_VERDICT_DESTRUCTIVE, "the deadlock that it leads to is proven");
    } else if (f->verdict != DH_VERDICT_DESTRUCTIVE && (other = use_after(found, f))) {
        if (f->level < DH_LEVEL_PROVEN)
            raise_by(c, f, other->witness);
        keep(c, f, DH_VERDICT_DESTRUCTIVE, "the use after free that it leads to is proven");
    }
    raise_failing(c, f);
}

static void conclude(struct classifying *c)
{
    struct dh_found found;
    struct dh_err err = {0};
    if (!dh_check_found(c->of->c, &found, &err))
        dh_notice_err(&err);
    for (size_t i = 0; i < found.at.n; i++)
        conclude_of(c, &found, found.at.at[i]);
    dh_found_release(&found);
}

/* ---- the stage ---- */

static void report(struct classifying *c)
{
    struct dh_str s = {0};
    for (enum dh_finding_verdict v = DH_VERDICT_DESTRUCTIVE; v > DH_VERDICT_NONE; v--)
        if (c->verdicts[v])
            dh_str_addf(&s, "%s%u %s", s.n ? ", " : "", c->verdicts[v], dh_finding_verdict_name(v));
    if (c->verdicts[DH_VERDICT_NONE])
        dh_str_addf(&s, "%s%u without a verdict", s.n ? ", " : "", c->verdicts[DH_VERDICT_NONE]);
    if (c->proven)
        dh_str_addf(&s, "%s%u proven by it", s.n ? ", " : "", c->proven);
    if (c->at < c->n)
        dh_str_addf(&s, "%s%u of %u variables not tried", s.n ? ", " : "", c->n - c->at, c->n);
    if (s.n)
        dh_stage_say(c->state, "%s", s.at);
    dh_str_release(&s);
}

void dh_check_classify(void *arg, struct dh_stage_state *t)
{
    struct classifying c = {.of = arg, .state = t, .until_ns = UINT64_MAX};
    struct dh_found found;
    struct dh_err err = {0};
    if (!dh_check_found(c.of->c, &found, &err)) {
        dh_notice_err(&err);
        return;
    }
    if (!c.of->concludes && dh_check_open_followed(c.of->c, &c.subject, t)) {
        c.folder = dh_witness_folder(c.of->c->db);
        classify_races(&c, &found);
        dh_subject_release(&c.subject);
        free(c.folder);
    }
    conclude(&c);
    report(&c);
    dh_found_release(&found);
}
