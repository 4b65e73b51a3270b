/* Failures of the baseline, which need no stale value. A variable is to blame if its values make a difference: with
 * older ones, in schedules of the same kind, the program fails significantly more or less often. */
#include "classify/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

#define SIGNIFICANT 4.0 /* standard deviations */
#define LEAST_NS 500000000ull
enum { RUNS = 400 };

static const struct dh_classify_column newest = {.title = "newest", .model = "sc", .heuristic = "newest"};
static const struct dh_classify_column others[] = {
    {.title = "oldest", .model = "hb", .heuristic = "oldest"},
    {.title = "oldest-different", .model = "hb", .heuristic = "oldest-different"},
};
enum { OTHERS = sizeof others / sizeof *others };

static bool has_failures(const struct dh_baseline *b)
{
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        if (b->ends[i] && i != DH_ENGINE_DONE && i != DH_ENGINE_CUT)
            return true;
    return false;
}

/* A two-proportion z-test. */
static bool differ(const struct dh_classify_column *a, const struct dh_classify_column *b)
{
    double n = (double)a->runs, m = (double)b->runs;
    if (!a->runs || !b->runs)
        return false;
    double p = (double)a->failed / n, q = (double)b->failed / m;
    double all = (double)(a->failed + b->failed) / (n + m);
    return (p - q) * (p - q) > SIGNIFICANT * SIGNIFICANT * all * (1 - all) * (1 / n + 1 / m);
}

/* The column of that name gets the counts of these runs, which are more. */
static struct dh_classify_column *column_of(struct dh_classified *out, const struct dh_classify_column *like)
{
    for (unsigned i = 0; i < out->n_columns; i++)
        if (strcmp(out->columns[i].title, like->title) == 0)
            return &out->columns[i];
    return NULL;
}

static struct dh_classify_column *run_like(struct campaign *c, struct dh_classified *out,
                                           const struct dh_classify_column *like)
{
    struct dh_classify_column *column = column_of(out, like);
    struct dh_trial_result r;
    struct attempt a = {.column = like, .places = dh_adversarial_places(c, out, false), .runs = RUNS};
    a.time_ns = dh_time_left(c) / 3 > LEAST_NS ? dh_time_left(c) / 3 : LEAST_NS;
    c->host->progress(c->host->arg, out->variable->name, "whether it is to blame", a.time_ns);
    if (column && dh_attempt_run(c, &a, &r)) {
        column->runs = r.schedules;
        column->failed = r.failed;
        dh_failures_take(c, column, &r);
        dh_trial_release(&r);
    }
    dh_adversarial_places_release(&a.places);
    return column;
}

void dh_blame_baseline_failures(struct campaign *c, struct dh_classified *out)
{
    struct dh_baseline b = c->b;
    const struct dh_classify_column *one, *other = NULL;
    bool blamed = false;
    if (!has_failures(&b) || !column_of(out, &newest))
        return;
    memset(c->b.ends, 0, sizeof c->b.ends);
    one = run_like(c, out, &newest);
    for (unsigned i = 0; i < OTHERS && one->failed && !blamed && !c->failed; i++) {
        other = run_like(c, out, &others[i]);
        blamed = other && differ(one, other);
    }
    if (!blamed) {
        dh_failures_release(c);
        for (unsigned i = 0; i < out->n_columns; i++)
            out->columns[i].failed = 0;
    } else
        out->known =
            dh_format("the baseline fails so, too; with older values of it %llu of %llu runs do instead of %llu "
                      "of %llu",
                      (unsigned long long)other->failed, (unsigned long long)other->runs,
                      (unsigned long long)one->failed, (unsigned long long)one->runs);
    memcpy(c->b.ends, b.ends, sizeof b.ends);
}
