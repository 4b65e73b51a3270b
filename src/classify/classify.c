#include "classify/classify.h"

#include "classify/explain.h"

#include <stdlib.h>
#include <string.h>

/* Work beyond the baseline that counts as a loss of service. */
#define SLOWER 1.5
#define MUCH_SLOWER 10.0
#define LOST_LEAST 1000.0 /* operations: who looks a few times more in a small program has lost nothing */
#define CONFIRM_NS 4000000000ull
enum { CONFIRMS = 4, WORK_RUNS = 10, STEPS_MOST = 20000, RATE_MOST = 20, ELEMENTS_LEAST = 64, DIRECTED = 5 };
#define WEIGH_NS 2000000000ull

/* §5.1: the five heuristics, the first of which is every interleaving with the newest values. Words that come in halves
 * are tried last (§5.2). */
static const struct dh_classify_column columns[] = {
    {.title = "newest", .model = "sc", .heuristic = "newest"},
    {.title = "oldest", .model = "hb", .heuristic = "oldest"},
    {.title = "oldest-different", .model = "hb", .heuristic = "oldest-different"},
    {.title = "random", .model = "hb", .heuristic = "random"},
    {.title = "random-different", .model = "hb", .heuristic = "random-different"},
    {.title = "torn", .model = "hb", .heuristic = "random", .tears = true},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* A failing run that a column found; owns all. */
struct failure {
    struct dh_engine_found *found;
    const struct dh_classify_column *column;
    unsigned rank; /* of the model: what fails under a stronger one says more */
};

struct campaign {
    struct dh_subject *s;
    const struct dh_baseline *b;
    const struct dh_classify_options *o;
    const struct dh_classify_host *host;
    struct dh_err *err;
    bool failed;
    uint64_t until_ns; /* of this variable */
    DH_VEC(struct failure) failures;
};

/* Models from the strongest on. */
static unsigned rank_of(const char *model)
{
    static const char *const models[] = {"sc", "tso", "pso", "c11", "hb", "hbmm"};
    unsigned i = 0;
    while (i < sizeof models / sizeof *models && strcmp(models[i], model) != 0)
        i++;
    return i;
}

static uint64_t left(const struct campaign *c)
{
    uint64_t now = dh_now_ns();
    return c->until_ns > now ? c->until_ns - now : 0;
}

static uint8_t *marks_for(const struct campaign *c, const struct dh_racy_variable *v, bool tears, unsigned rate,
                          bool by_element)
{
    uint8_t *marks = calloc(c->s->start.places + 1, 1);
    if (!marks)
        abort();
    for (uint32_t i = 0; i < c->s->start.places; i++)
        if (v->marks[i])
            marks[i] = (uint8_t)((v->marks[i] & (rate && by_element ? 0xff : DH_ENGINE_STALE)) |
                                 (tears ? DH_ENGINE_TEARS : 0) | rate << DH_ENGINE_RATE_SHIFT);
    return marks;
}

static dh_engine_marks *visible_for(const struct campaign *c, const struct dh_racy_variable *v)
{
    dh_engine_marks *visible = calloc(c->s->start.places + 1, sizeof *visible);
    if (!visible)
        abort();
    for (uint32_t i = 0; i < c->s->start.places; i++)
        visible[i] = v->marks[i] ? DH_ENGINE_VISIBLE : 0;
    return visible;
}

/* ---- a failure ---- */

/* What varies in every run is no part of the witness. */
static void leave_out_what_varies(const struct campaign *c, struct dh_engine_found *end)
{
    if (c->b->output_varies)
        end->outcome.output = UINT64_MAX;
    if (c->b->errors_vary)
        end->outcome.errors = UINT64_MAX;
}

static void tell_failure(struct campaign *c, struct dh_classified *out)
{
    struct dh_str words = {0}, read = {0};
    dh_explain_end(&words, c->s, out->run.end, out->run.output.at);
    dh_str_add(&read, "");
    if (out->run.end->n_stale)
        dh_explain_read(&read, c->s, &out->run.end->stale[0]);
    else
        dh_str_add(&read, "every read got the newest value: the order of the threads alone does it");
    free(out->why);
    free(out->explanation);
    out->why = dh_str_take(&words);
    out->explanation = dh_str_take(&read);
}

static int by_worth(const void *a, const void *b)
{
    const struct failure *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->column->tears != y->column->tears)
        return x->column->tears ? 1 : -1;
    if (x->found->n_stale != y->found->n_stale)
        return x->found->n_stale < y->found->n_stale ? -1 : 1;
    return x->found->n_decisions < y->found->n_decisions ? -1 : x->found->n_decisions > y->found->n_decisions;
}

/* The first of those found that happens with kernel threads, too. */
static void confirm(struct campaign *c, struct dh_classified *out)
{
    if (c->failures.n)
        qsort(c->failures.at, c->failures.n, sizeof *c->failures.at, by_worth);
    for (size_t i = 0; i < c->failures.n && i < CONFIRMS && !out->failed; i++) {
        const struct failure *f = &c->failures.at[i];
        uint8_t *marks = marks_for(c, out->variable, f->column->tears, out->rate, out->by_element);
        dh_engine_marks *visible = visible_for(c, out->variable);
        struct dh_schedule as = {.visible = visible, .adversary = dh_baseline_adversary(c->b, f->column->model, marks)};
        c->host->progress(c->host->arg, out->variable->name, "fewest stale reads", left(c));
        if (dh_fewest(c->s, f->found, &as, CONFIRM_NS, &out->run, c->err)) {
            leave_out_what_varies(c, out->run.end);
            out->failed = f->column;
            out->verdict = "destructive";
            tell_failure(c, out);
        } else {
            dh_failing_run_release(&out->run);
            free(marks);
            free(visible);
            out->unconfirmed++;
        }
    }
}

static void take_failures(struct campaign *c, const struct dh_classify_column *column, struct dh_trial_result *r)
{
    for (size_t i = 0; i < r->found.n && i < CONFIRMS; i++) {
        struct failure f = {r->found.at[i], column, rank_of(column->model)};
        dh_vec_push(&c->failures, f);
        r->found.at[i] = NULL;
    }
}

static void release_failures(struct campaign *c)
{
    for (size_t i = 0; i < c->failures.n; i++)
        free(c->failures.at[i].found);
    dh_vec_release(&c->failures);
}

/* ---- columns ---- */

static void count(struct dh_classified *out, struct dh_classify_column *column, const struct dh_trial_result *r,
                  const struct dh_baseline *b)
{
    column->runs = r->schedules;
    column->failed = r->failed;
    column->stale_loads = r->stale_loads;
    column->open_loads = r->open_loads;
    column->slower = b->operations ? (double)r->operations / (double)b->operations : 0;
    out->runs += r->schedules;
    out->shared += r->shared;
    out->loads += r->loads;
    out->stale_loads += r->stale_loads;
    out->open_loads += r->open_loads;
}

/* Of the time that is left; enough for a few runs of a program that takes long, if need be beyond it. */
static uint64_t share(const struct campaign *c, unsigned of)
{
    uint64_t part = left(c) / of, few = 3 * c->b->longest_ns;
    if (part >= few || !left(c))
        return part;
    return few < c->o->budget_ns ? few : c->o->budget_ns;
}

static void run_column(struct campaign *c, struct dh_classified *out, struct dh_classify_column *column,
                       const struct dh_racy_pair *pair, unsigned columns_left)
{
    struct dh_trial_result result;
    uint8_t *marks = marks_for(c, out->variable, column->tears, out->rate, out->by_element);
    dh_engine_marks *visible = visible_for(c, out->variable);
    struct dh_trial r = {.model = column->model,
                         .heuristic = column->heuristic,
                         .strategy = pair ? "directed" : "random",
                         .marks = marks,
                         .visible = visible,
                         .seed = c->o->seed,
                         .schedules = pair ? DIRECTED * c->o->runs : c->o->runs,
                         .time_ns = share(c, columns_left)};
    if (pair)
        memcpy(r.target, pair->place, sizeof r.target);
    c->host->progress(c->host->arg, out->variable->name, column->title, left(c));
    if (r.time_ns && dh_trial_run(&r, c->s, c->b, &result, c->err)) {
        count(out, column, &result, c->b);
        take_failures(c, column, &result);
        if (result.state == DH_ENGINE_CANNOT && !out->why[0]) {
            free(out->why);
            out->why = dh_strdup(result.text);
        }
        dh_trial_release(&result);
    } else if (r.time_ns)
        c->failed = true;
    free(marks);
    free(visible);
}

/* ---- work ---- */

/* Runs in which all reads are served without being steps: they do not replay, but show how much more is done by who
 * reads old values. Answers operations of a run, 0 when none came to its end. */
static double work_with(struct campaign *c, struct dh_classified *out, const char *model, const char *heuristic,
                        uint64_t time_ns)
{
    struct dh_trial_result result;
    uint8_t *marks = marks_for(c, out->variable, false, 0, false);
    struct dh_trial t = {.model = model,
                         .heuristic = heuristic,
                         .strategy = "random",
                         .marks = marks,
                         .seed = c->o->seed,
                         .schedules = WORK_RUNS,
                         .time_ns = time_ns,
                         .in_line = true};
    double operations = 0;
    if (!dh_trial_run(&t, c->s, c->b, &result, c->err))
        c->failed = true;
    else {
        operations = result.cut ? MUCH_SLOWER * (double)c->b->operations : (double)result.operations;
        out->stale_inline = out->stale_inline || result.stale_loads;
        dh_trial_release(&result);
    }
    free(marks);
    return operations;
}

/* Where there are so many reads that not all can be steps, one in 2^rate is: reads of some elements, if there are
 * many, else some reads. */
static void choose_rate(struct dh_classified *out, const struct dh_trial_result *r)
{
    uint64_t loads = r->schedules ? r->loads / r->schedules : r->loads;
    while (loads >> out->rate > STEPS_MOST && out->rate < RATE_MOST)
        out->rate++;
    out->by_element = r->locations >> out->rate >= ELEMENTS_LEAST;
}

static void measure(struct campaign *c, struct dh_classified *out)
{
    struct dh_trial_result result;
    uint8_t *marks = marks_for(c, out->variable, false, 0, false);
    dh_engine_marks *visible = visible_for(c, out->variable);
    struct dh_trial t = {.model = "sc",
                         .heuristic = "newest",
                         .strategy = "random",
                         .marks = marks,
                         .visible = visible,
                         .seed = c->o->seed,
                         .schedules = 1,
                         .time_ns = c->o->budget_ns / 5};
    c->host->progress(c->host->arg, out->variable->name, "how much it is read", left(c));
    if (dh_trial_run(&t, c->s, c->b, &result, c->err)) {
        choose_rate(out, &result);
        dh_trial_release(&result);
    } else
        c->failed = true;
    free(marks);
    free(visible);
}

static void weigh(struct campaign *c, struct dh_classified *out)
{
    uint64_t time_ns = left(c) > WEIGH_NS ? left(c) : WEIGH_NS;
    c->host->progress(c->host->arg, out->variable->name, "how much more work it makes", time_ns);
    double newest = work_with(c, out, "sc", "newest", time_ns / 2);
    double oldest = newest > 0 && !c->failed ? work_with(c, out, "hb", "oldest", time_ns / 2) : 0;
    out->slower = newest > 0 ? oldest / newest : 0;
    out->is_slow = out->slower >= SLOWER && out->stale_inline && oldest - newest >= LOST_LEAST;
}

/* What chance did not bring about: the accesses that race are led to meet. */
static void hunt(struct campaign *c, struct dh_classified *out)
{
    const struct dh_racy_variable *v = out->variable;
    size_t n = v->pairs.n, last = out->n_columns > 1 ? out->n_columns - 1 : 0;
    struct dh_classify_column *column = &out->columns[out->n_columns];
    if (!n || out->n_columns == DH_CLASSIFY_COLUMNS)
        return;
    for (size_t i = 0; i < 2 * n && !c->failed && !c->failures.n; i++) {
        const struct dh_classify_column *like = &out->columns[i % 2 ? 0 : last];
        *column = (struct dh_classify_column){
            .title = "directed", .model = like->model, .heuristic = like->heuristic, .tears = like->tears};
        run_column(c, out, column, &v->pairs.at[i / 2], (unsigned)(2 * n - i));
    }
    out->n_columns++;
}

static bool is_wanted(const struct campaign *c, const struct dh_classify_column *column,
                      const struct dh_racy_variable *v)
{
    return (!column->tears || v->tears) && (!c->o->model || strcmp(c->o->model, column->model) == 0);
}

static void conclude(struct dh_classified *out)
{
    if (out->failed)
        return;
    char *why;
    uint64_t failed = 0;
    for (unsigned i = 0; i < out->n_columns; i++)
        failed += out->columns[i].failed;
    if (failed)
        why = dh_format("%llu of %llu runs failed, but none of those that were tried fails with kernel threads",
                        (unsigned long long)failed, (unsigned long long)out->runs);
    else if (!out->runs)
        why = out->why[0] ? NULL : dh_strdup("no run came to its end within the budget");
    else if (out->is_slow)
        why = dh_format("%.1f times the operations of runs with the newest values, the results the same", out->slower);
    else if (!out->loads)
        why = dh_strdup("it is never read once there are threads");
    else if (!out->shared)
        why = dh_strdup("no two threads ever accessed the same instance of it");
    else if (!out->open_loads)
        why = dh_strdup("no read ever had a second value to see");
    else
        why = dh_format("%llu stale reads were served in %llu runs without failure",
                        (unsigned long long)out->stale_loads, (unsigned long long)out->runs);
    out->verdict = !out->runs || failed ? "none" : out->is_slow ? "qos" : "no-failure";
    if (why) {
        free(out->why);
        out->why = why;
    }
}

static void release(struct dh_classified *out)
{
    if (out->failed) {
        free((void *)out->run.schedule.visible);
        free((void *)out->run.schedule.adversary.marks);
        dh_failing_run_release(&out->run);
    }
    free(out->why);
    free(out->explanation);
}

static void classify(struct campaign *c, const struct dh_racy_variable *v)
{
    struct dh_classified out = {.variable = v, .verdict = "none", .why = dh_strdup(""), .explanation = dh_strdup("")};
    uint64_t began = dh_now_ns();
    c->until_ns = began + c->o->budget_ns;
    for (unsigned i = 0; i < COLUMNS; i++)
        if (is_wanted(c, &columns[i], v))
            out.columns[out.n_columns++] = columns[i];
    measure(c, &out);
    for (unsigned i = 0; i < out.n_columns && !c->failed && !c->host->interrupted(c->host->arg); i++)
        run_column(c, &out, &out.columns[i], NULL, out.n_columns + (v->pairs.n ? 1 : 0) - i);
    if (!c->failures.n && !c->failed)
        hunt(c, &out);
    if (!c->failures.n && !c->failed && (!c->o->model || strcmp(c->o->model, "hb") == 0))
        weigh(c, &out);
    if (!c->failed)
        confirm(c, &out);
    release_failures(c);
    conclude(&out);
    out.elapsed_ns = dh_now_ns() - began;
    if (!c->failed && !c->host->classified(c->host->arg, &out))
        c->failed = true;
    release(&out);
}

bool dh_classify(struct dh_subject *s, const struct dh_baseline *b, const struct dh_racy_variables *v,
                 const struct dh_classify_options *o, const struct dh_classify_host *host, struct dh_err *err)
{
    struct campaign c = {.s = s, .b = b, .o = o, .host = host, .err = err};
    for (size_t i = 0; i < v->at.n && !c.failed && !host->interrupted(host->arg); i++)
        classify(&c, &v->at.at[i]);
    return !c.failed;
}
