#include "classify/classify.h"

#include "base/alloc.h"
#include "classify/campaign_internal.h"
#include "classify/variable_groups.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MOST = 20000, RATE_MOST = 20, ELEMENTS_LEAST = 64, MEASURED_MOST = 3 };
#define KEPT_PERCENT 45 /* of the time: for minimising and confirming failing runs */

/* 004 §5.1: the five heuristics, first the newest values in all interleavings. Torn words come last (§5.2). */
static const struct dh_classify_column columns[] = {
    {.title = "newest", .model = "sc", .heuristic = "newest"},
    {.title = "oldest", .model = "hb", .heuristic = "oldest"},
    {.title = "oldest-different", .model = "hb", .heuristic = "oldest-different"},
    {.title = "random", .model = "hb", .heuristic = "random"},
    {.title = "random-different", .model = "hb", .heuristic = "random-different"},
    {.title = "torn", .model = "hb", .heuristic = "random", .tears = true},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* ---- columns ---- */

/* With `model` instead of hb, if the options have one. */
static void choose_columns(const struct campaign *c, struct dh_classified *out)
{
    const char *model = c->o->model;
    if (c->o->systematic) {
        out->columns[out->n_columns++] =
            (struct dh_classify_column){.title = "all", .model = model ? model : "hb", .heuristic = "newest"};
        return;
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        struct dh_classify_column column = columns[i];
        bool is_sc = strcmp(column.model, "sc") == 0;
        if ((column.tears && !out->variable->tears) || (model && is_sc != (strcmp(model, "sc") == 0)))
            continue;
        if (model)
            column.model = model;
        out->columns[out->n_columns++] = column;
    }
}

static void add_counts(struct dh_classified *out, struct dh_classify_column *column, const struct dh_trial_result *r,
                       const struct dh_baseline *b)
{
    column->runs += r->schedules;
    column->failed += r->failed;
    column->stale_loads += r->stale_loads;
    column->open_loads += r->open_loads;
    if (r->schedules && r->stores / r->schedules > out->stores)
        out->stores = r->stores / r->schedules;
    out->buffer_most = r->buffer_most > out->buffer_most ? r->buffer_most : out->buffer_most;
    out->buffer_written = r->buffer_written > out->buffer_written ? r->buffer_written : out->buffer_written;
    column->slower = b->operations ? (double)r->operations / (double)b->operations : 0;
    out->runs += r->schedules;
    out->shared += r->shared;
    out->loads += r->loads;
    out->stale_loads += r->stale_loads;
    out->open_loads += r->open_loads;
}

/* A share of the time that is left; at least a few runs, if need be beyond the budget. */
static uint64_t time_share(const struct campaign *c, unsigned of)
{
    uint64_t kept = c->o->budget_ns / 100 * KEPT_PERCENT, left = dh_time_left(c);
    uint64_t part = (left > kept ? left - kept : 0) / of, few = 3 * c->b.longest_ns;
    if (part >= few || !left)
        return part;
    return few < c->o->budget_ns ? few : c->o->budget_ns;
}

static void run_column(struct campaign *c, struct dh_classified *out, struct dh_classify_column *column,
                       const struct dh_racy_pair *pair, unsigned columns_left)
{
    struct dh_trial_result r;
    struct attempt a = {.column = column,
                        .places = dh_adversarial_places(c, out, column->tears),
                        .pair = pair,
                        .systematic = c->o->systematic,
                        .runs = c->o->runs,
                        .time_ns = time_share(c, columns_left)};
    c->host->progress(c->host->arg, out->variable->name, column->title, dh_time_left(c));
    if (a.time_ns && dh_attempt_run(c, &a, &r)) {
        add_counts(out, column, &r, &c->b);
        dh_failures_take(c, column, &r);
        out->is_exact = r.is_exact;
        if (r.state == DH_ENGINE_CANNOT && !out->why[0]) {
            free(out->why);
            out->why = dh_strdup(r.text);
        }
        dh_trial_release(&r);
    }
    dh_adversarial_places_release(&a.places);
}

/* Directed runs: the racing accesses are led to be pending together. */
static void run_directed(struct campaign *c, struct dh_classified *out)
{
    const struct dh_racy_variable *v = out->variable;
    size_t n = v->pairs.n, last = out->n_columns > 1 ? out->n_columns - 1 : 0;
    struct dh_classify_column *column = &out->columns[out->n_columns];
    if (!n || out->n_columns == DH_CLASSIFY_COLUMNS || c->o->systematic)
        return;
    for (size_t i = 0; i < 2 * n && !c->failed && !c->failures.n; i++) {
        const struct dh_classify_column *like = &out->columns[i % 2 ? 0 : last];
        *column = (struct dh_classify_column){
            .title = "directed", .model = like->model, .heuristic = like->heuristic, .tears = like->tears};
        run_column(c, out, column, &v->pairs.at[i / 2], (unsigned)(2 * n - i));
    }
    out->n_columns++;
}

/* ---- sampling ---- */

/* With too many reads for all to be steps, one in 2^rate is: reads of some elements, if there are many, else some
 * reads. */
static void choose_rate(struct dh_classified *out, const struct dh_trial_result *r)
{
    out->reads = r->schedules ? r->loads / r->schedules : r->loads;
    out->rate = 0;
    while (out->reads >> out->rate > STEPS_MOST && out->rate < RATE_MOST)
        out->rate++;
    out->by_element = r->locations >> out->rate >= ELEMENTS_LEAST;
}

/* False: the run revealed other places that access the variable. */
static bool measure_reads(struct campaign *c, struct dh_racy_variable *v, struct dh_classified *out)
{
    struct dh_trial_result r;
    bool done = true;
    out->rate = 0;
    struct attempt a = {.column = &columns[0],
                        .places = dh_adversarial_places(c, out, false),
                        .runs = 1,
                        .time_ns = c->o->budget_ns / 5,
                        .in_line = true};
    c->host->progress(c->host->arg, out->variable->name, "how much it is read", dh_time_left(c));
    if (dh_attempt_run(c, &a, &r)) {
        choose_rate(out, &r);
        out->instances = r.locations;
        done = v->members.n || !dh_racy_variable_add_places(v, c->s, r.met);
        dh_trial_release(&r);
    }
    dh_adversarial_places_release(&a.places);
    return done;
}

/* ---- one variable ---- */

static char *why_no_failure(struct dh_classified *out)
{
    out->no_failure = out->stale_loads ? DH_STALE_SERVED : DH_ONE_VALUE;
    if (!out->loads)
        return dh_strdup("no second value was ever visible: nobody reads it once there are threads");
    if (!out->shared)
        return dh_strdup("no second value was ever visible: no two threads ever accessed the same instance of it");
    if (!out->open_loads)
        return dh_format("no second value was ever visible to any of %llu reads in %llu runs",
                         (unsigned long long)out->loads, (unsigned long long)out->runs);
    if (out->is_exact)
        return dh_format("all values in all schedules, %llu runs with %llu stale reads: none fails",
                         (unsigned long long)out->runs, (unsigned long long)out->stale_loads);
    return dh_format("%llu stale reads were served in %llu runs without failure, within %.3g s",
                     (unsigned long long)out->stale_loads, (unsigned long long)out->runs, (double)out->budget_ns / 1e9);
}

/* What was not tried for want of time, or NULL: no failure may be said only of all that a verdict stands for. */
static const char *untried(const struct dh_classified *out)
{
    for (unsigned i = 0; i < out->n_columns; i++)
        if (!out->columns[i].runs)
            return out->columns[i].title;
    return out->is_cut ? "directed" : NULL;
}

static void set_verdict(const struct campaign *c, struct dh_classified *out)
{
    if (out->failed)
        return;
    char *why;
    const char *left_out = untried(out);
    uint64_t failed = 0;
    for (unsigned i = 0; i < out->n_columns; i++)
        failed += out->columns[i].failed;
    if (failed)
        why = dh_format("%llu of %llu runs failed, but none of those that were tried fails with kernel threads",
                        (unsigned long long)failed, (unsigned long long)out->runs);
    else if (!out->runs)
        why = out->why[0] ? NULL : dh_strdup("no run came to its end within the budget");
    else if (out->is_slow)
        why = dh_format("%.3g times the %s of runs with the newest values, the results the same", out->slower,
                        out->is_free ? "processor time" : "operations");
    else if (c->o->doubt)
        why = dh_format("no verdict: %s", c->o->doubt);
    else if (left_out)
        why = dh_format("no verdict: %llu runs did not fail, and no time was left for those of heuristic '%s'",
                        (unsigned long long)out->runs, left_out);
    else
        why = why_no_failure(out);
    bool open = !out->runs || failed || ((c->o->doubt || left_out) && !out->is_slow);
    out->verdict = open ? DH_VERDICT_NONE : out->is_slow ? DH_VERDICT_QOS : DH_VERDICT_NO_FAILURE;
    if (why) {
        free(out->why);
        out->why = why;
    }
}

static void release(struct campaign *c, struct dh_classified *out)
{
    if (out->is_free)
        c->b = c->engine;
    if (out->failed) {
        free((void *)out->run.schedule.visible);
        free((void *)out->run.schedule.adversary.marks);
        dh_failing_run_release(&out->run);
    }
    for (size_t i = 0; i < out->pairs.n; i++)
        free(out->pairs.at[i].why);
    dh_vec_release(&out->pairs);
    free(out->why);
    free(out->known);
    free(out->explanation);
}

static bool can_continue(const struct campaign *c)
{
    return !c->failed && !c->host->interrupted(c->host->arg);
}

/* All columns. `out` is released by the caller; failures refer to it. */
static void run_all(struct campaign *c, struct dh_racy_variable *v, uint64_t budget_ns, struct dh_classified *out)
{
    *out = (struct dh_classified){.variable = v,
                                  .verdict = DH_VERDICT_NONE,
                                  .why = dh_strdup(""),
                                  .explanation = dh_strdup(""),
                                  .budget_ns = budget_ns};
    c->until_ns = dh_now_ns() + budget_ns;
    c->b.elements = v->elements.at;
    c->b.n_elements = (uint32_t)v->elements.n;
    choose_columns(c, out);
    if (c->o->free || v->sites.n) {
        c->engine = c->b;
        dh_free_campaign_run(c, out);
        return;
    }
    for (unsigned i = 0; i < MEASURED_MOST && !c->failed && !measure_reads(c, v, out); i++)
        ;
    for (unsigned i = 0; i < out->n_columns && can_continue(c); i++)
        run_column(c, out, &out->columns[i], NULL, out->n_columns + (v->pairs.n ? 1 : 0) - i);
    if (!c->failures.n && can_continue(c) && !c->o->model && !v->members.n)
        dh_blame_baseline_failures(c, out);
    if (!c->failures.n && can_continue(c))
        run_directed(c, out);
    else
        out->is_cut = !c->failures.n && v->pairs.n && !c->o->systematic;
}

/* From its runs to a verdict. */
static void judge_variable(struct campaign *c, struct dh_classified *out)
{
    if (out->is_free) {
        if (!out->failed && !c->failed && !out->variable->members.n)
            dh_free_campaign_slow_down(c, out);
        set_verdict(c, out);
        return;
    }
    bool by_hb = !c->o->model || strcmp(c->o->model, "hb") == 0;
    if (!c->failures.n && !c->failed && by_hb && !out->variable->members.n)
        dh_measure_slow_down(c, out);
    if (!c->failed)
        dh_failures_confirm(c, out);
    if (!c->failed)
        dh_failures_find_strongest_model(c, out);
    dh_failures_release(c);
    set_verdict(c, out);
}

static void report(struct campaign *c, struct dh_classified *out, uint64_t began_ns)
{
    if (!c->failed)
        dh_judge_pairs(c, out);
    out->elapsed_ns = dh_now_ns() - began_ns;
    if (!c->failed && !c->host->classified(c->host->arg, out))
        c->failed = true;
}

/* True: harmless alone, but its reads have several values, so it may do harm in a group. */
static bool classify(struct campaign *c, struct dh_racy_variable *v)
{
    uint64_t began = dh_now_ns();
    struct dh_classified out;
    run_all(c, v, c->o->budget_ns, &out);
    judge_variable(c, &out);
    if (c->is_doubtful) {
        c->is_doubtful = false;
        release(c, &out);
        run_all(c, v, c->o->budget_ns / 2, &out);
        judge_variable(c, &out);
    }
    report(c, &out, began);
    bool open = !out.failed && out.verdict != DH_VERDICT_NONE && (out.open_loads || out.shared);
    release(c, &out);
    return open;
}

/* ---- groups ---- */

struct group {
    struct campaign *c;
    const struct dh_racy_variables *v;
    bool *in; /* per variable */
    uint64_t budget_ns;
};

static unsigned count_in(const struct group *t)
{
    unsigned n = 0;
    for (size_t i = 0; i < t->v->at.n; i++)
        n += t->in[i];
    return n;
}

/* Do runs fail in which reads of all of them may be stale? Keeps no run. */
static bool fails(struct group *t)
{
    struct dh_racy_variable g = dh_racy_variable_group(t->v, t->in, t->c->s->start.places);
    struct dh_classified out;
    run_all(t->c, &g, t->budget_ns, &out);
    bool found = t->c->failures.n || out.failed;
    dh_failures_release(t->c);
    release(t->c, &out);
    dh_racy_variable_release(&g);
    return found;
}

/* Removes members while the others still fail: the rest is minimal. */
static void minimise_group(struct group *t)
{
    for (size_t i = 0; i < t->v->at.n && count_in(t) > 2 && can_continue(t->c); i++) {
        if (!t->in[i])
            continue;
        t->in[i] = false;
        t->in[i] = !fails(t);
    }
}

static bool classify_group(struct group *t)
{
    uint64_t began = dh_now_ns();
    struct dh_racy_variable g = dh_racy_variable_group(t->v, t->in, t->c->s->start.places);
    struct dh_classified out;
    run_all(t->c, &g, t->budget_ns, &out);
    judge_variable(t->c, &out);
    bool destructive = out.failed;
    if (destructive)
        report(t->c, &out, began);
    release(t->c, &out);
    dh_racy_variable_release(&g);
    return destructive;
}

/* Of the variables that are harmless alone: a minimal destructive group, then the rest without it, and so on. */
static void classify_groups(struct campaign *c, const struct dh_racy_variables *v, bool *open)
{
    struct group t = {.c = c, .v = v, .in = dh_xcalloc(v->at.n + 1, 1), .budget_ns = c->o->budget_ns / 2};
    for (bool again = true; again && can_continue(c);) {
        memcpy(t.in, open, v->at.n);
        again = count_in(&t) > 1 && fails(&t);
        if (!again)
            break;
        minimise_group(&t);
        again = classify_group(&t);
        for (size_t i = 0; i < v->at.n; i++)
            open[i] = open[i] && !t.in[i];
    }
    free(t.in);
}

/* ---- all variables ---- */

/* Output that differs in every run is judged by the oracle alone. */
static void leave_to_oracle(struct dh_baseline *b)
{
    if (!b->output_varies)
        return;
    b->output_varies = false;
    b->errors_vary = true;
    b->n_outcomes = 1;
    b->outcomes[0] = (struct dh_engine_outcome){.status = b->status, .errors = UINT64_MAX};
}

bool dh_classify(struct dh_subject *s, const struct dh_baseline *b, struct dh_racy_variables *v,
                 const struct dh_classify_options *o, const struct dh_classify_host *host, struct dh_err *err)
{
    struct campaign c = {.s = s, .o = o, .host = host, .err = err};
    bool *open = dh_xcalloc(v->at.n + 1, sizeof *open);
    if (!o->free)
        c.b = *b;
    if (o->oracle && !o->free)
        leave_to_oracle(&c.b);
    for (size_t i = 0; i < v->at.n && can_continue(&c); i++)
        open[i] = classify(&c, &v->at.at[i]);
    if (!o->alone && can_continue(&c))
        classify_groups(&c, v, open);
    free(open);
    dh_vec_release(&c.failures);
    return !c.failed;
}
