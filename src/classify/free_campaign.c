/* Classification by free runs, for programs that the engine cannot host: there is no schedule to replay, only how often
 * runs failed and the first stale reads of a failing one. */
#include "base/alloc.h"
#include "classify/campaign_internal.h"
#include "classify/free_runs.h"
#include "classify/rank_sum.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define FIRST_NS 10000000000ull /* for a run of the baseline */
#define COMPARE_NS 3000000000ull
#define HANG_NS 3000000000ull /* plus HANG_RUNS times its longest run */
enum { HANG_RUNS = 20, BASELINE_RUNS = 20 };

struct free_column {
    struct campaign *c;
    struct dh_classified *out;
    struct dh_classify_column *column;
    uint64_t until_ns;
};

/* ---- a run ---- */

static bool is_failure(const struct free_column *f, const struct dh_free_run *r, enum dh_engine_end end)
{
    const struct dh_baseline *b = &f->c->b;
    bool accepts = false;
    if (end == DH_ENGINE_DONE || end == DH_ENGINE_CUT || r->end == DH_FREE_DECLINED || b->ends[end])
        return false;
    if (end == DH_ENGINE_WRONG && f->c->o->oracle && r->outcome.status == b->status)
        dh_oracle_ask(f->c->o->oracle, r->printed, strlen(r->printed), &accepts, f->c->err);
    return !accepts;
}

/* As much of an end as is known. */
static struct dh_engine_found *end_of(const struct dh_free_run *r, enum dh_engine_end kind)
{
    struct dh_engine_found *end = dh_xcalloc(1, sizeof *end);
    end->kind = (uint16_t)kind;
    end->size = sizeof *end;
    end->outcome = r->outcome;
    end->status = r->outcome.status;
    end->signal = WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;
    end->threads = r->threads;
    end->n_stale = r->n_stale;
    memcpy(end->stale, r->stale, sizeof end->stale);
    return end;
}

/* Keeps the failing run with the fewest stale reads. */
static void keep_fewest_stale(struct free_column *f, const struct dh_free_run *r, enum dh_engine_end end)
{
    struct dh_classified *out = f->out;
    if (out->run.end && out->run.end->n_stale <= r->n_stale)
        return;
    dh_failing_run_release(&out->run);
    out->run.end = end_of(r, end);
    out->run.stale_before = r->n_stale;
    dh_str_add(&out->run.output, r->printed);
    out->failed = f->column;
}

static bool on_run(void *arg, const struct dh_free_run *r)
{
    struct free_column *f = arg;
    struct dh_classified *out = f->out;
    enum dh_engine_end end = dh_free_judge(r, &f->c->b);
    bool failed = is_failure(f, r, end);
    f->column->runs++;
    f->column->failed += failed;
    f->column->stale_loads += r->stale_loads;
    f->column->open_loads += r->open_loads;
    out->runs++;
    out->shared += r->shared;
    out->loads += r->loads;
    out->stale_loads += r->stale_loads;
    out->open_loads += r->open_loads;
    out->instances = r->locations > out->instances ? r->locations : out->instances;
    out->stores = r->stores > out->stores ? r->stores : out->stores;
    out->buffer_most = r->buffer_most > out->buffer_most ? (uint32_t)r->buffer_most : out->buffer_most;
    if (failed)
        keep_fewest_stale(f, r, end);
    return dh_now_ns() < f->until_ns && !f->c->host->interrupted(f->c->host->arg);
}

/* ---- a variable ---- */

static struct dh_free free_runs_of(const struct campaign *c, const struct dh_racy_variable *v, const char *heuristic,
                                   const uint8_t *marks)
{
    return (struct dh_free){.heuristic = heuristic,
                            .marks = marks,
                            .elements = v->elements.at,
                            .n_elements = v->elements.n,
                            .sites = v->sites.at,
                            .n_sites = v->sites.n,
                            .seed = c->o->seed,
                            .runs = c->o->runs,
                            .run_ns = HANG_NS + HANG_RUNS * c->b.longest_ns};
}

static bool collect(struct campaign *c, const struct dh_racy_variable *v)
{
    struct dh_free f = free_runs_of(c, v, "newest", v->marks);
    f.runs = BASELINE_RUNS;
    f.time_ns = c->o->budget_ns / 4;
    f.run_ns = FIRST_NS;
    c->host->progress(c->host->arg, v->name, "baseline of free runs", dh_time_left(c));
    bool ok = dh_free_baseline(&c->b, &f, c->s, c->err);
    c->failed = c->failed || !ok;
    return ok;
}

static void run_column(struct campaign *c, struct dh_classified *out, struct dh_classify_column *column, unsigned left)
{
    struct adversarial_places d = dh_adversarial_places(c, out, column->tears);
    uint64_t part = dh_time_left(c) / left, few = 3 * c->b.longest_ns;
    struct free_column f = {.c = c, .out = out, .column = column, .until_ns = dh_now_ns() + (part > few ? part : few)};
    struct dh_free how = free_runs_of(c, out->variable, column->heuristic, d.marks);
    c->host->progress(c->host->arg, out->variable->name, column->title, dh_time_left(c));
    if (!dh_free_run(&how, c->s, on_run, &f, c->err))
        c->failed = true;
    dh_adversarial_places_release(&d);
}

void dh_free_campaign_run(struct campaign *c, struct dh_classified *out)
{
    out->is_free = true;
    if (!collect(c, out->variable))
        return;
    if (c->b.cannot) {
        free(out->why);
        out->why = dh_strdup(c->b.cannot);
    }
    for (unsigned i = 0; i < out->n_columns && !c->b.cannot && !c->failed && !c->host->interrupted(c->host->arg); i++)
        run_column(c, out, &out->columns[i], out->n_columns - i);
    dh_baseline_release(&c->b);
    if (!out->failed)
        return;
    out->verdict = DH_VERDICT_DESTRUCTIVE;
    out->found_ns = dh_now_ns() - (c->until_ns - out->budget_ns);
    dh_failure_explain(c, out);
}

/* ---- pairs of places ---- */

struct pair_runs {
    struct free_column f;
    uint64_t runs, failed;
};

static bool on_run_of_pair(void *arg, const struct dh_free_run *r)
{
    struct pair_runs *a = arg;
    a->runs++;
    a->failed += is_failure(&a->f, r, dh_free_judge(r, &a->f.c->b));
    return !a->failed && dh_now_ns() < a->f.until_ns && !a->f.c->host->interrupted(a->f.c->host->arg);
}

uint64_t dh_free_campaign_failing(struct campaign *c, const struct dh_classified *of, const uint32_t *only, unsigned n,
                                  uint64_t time_ns, uint64_t *runs)
{
    struct adversarial_places d = dh_adversarial_places(c, of, of->failed->tears);
    struct pair_runs a = {.f = {.c = c, .until_ns = dh_now_ns() + time_ns}};
    struct dh_free how = free_runs_of(c, of->variable, of->failed->heuristic, d.marks);
    how.only = only;
    how.n_only = n;
    if (!dh_free_run(&how, c->s, on_run_of_pair, &a, c->err))
        c->failed = true;
    dh_adversarial_places_release(&d);
    *runs = a.runs;
    return a.failed;
}

/* ---- slow-down ---- */

/* In processor time, as operations are not counted; alternately, since the load of the machine varies. */
enum { RUNS_EACH = 10 };
#define LOST_LEAST_NS 5e6
#define LOST_SHARE 0.1

struct comparison {
    double newest[RUNS_EACH], oldest[RUNS_EACH];
    double *now;
    unsigned n;
    bool stale, failed;
};

static bool measure_run(void *arg, const struct dh_free_run *r)
{
    struct comparison *w = arg;
    w->now[w->n] = (double)r->cpu_ns;
    w->stale = w->stale || r->stale_loads;
    w->failed = w->failed || r->end != DH_FREE_EXITED;
    return true;
}

static double mean_of(const double *at, unsigned n)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += at[i] / n;
    return sum;
}

static bool measure_both(struct campaign *c, struct dh_classified *out, struct comparison *w)
{
    for (unsigned i = 0; i < 2 && !c->failed; i++) {
        struct dh_free how = free_runs_of(c, out->variable, i ? "oldest" : "newest", out->variable->marks);
        how.seed += w->n;
        how.runs = 1;
        w->now = i ? w->oldest : w->newest;
        if (!dh_free_run(&how, c->s, measure_run, w, c->err))
            c->failed = true;
    }
    return !c->failed && !w->failed;
}

void dh_free_campaign_slow_down(struct campaign *c, struct dh_classified *out)
{
    struct comparison w = {0};
    uint64_t needed = 2 * RUNS_EACH * c->b.longest_ns, left = dh_time_left(c);
    if (!out->stale_loads || needed > (left > COMPARE_NS ? left : COMPARE_NS))
        return;
    c->host->progress(c->host->arg, out->variable->name, "how much more work it makes", left);
    while (w.n < RUNS_EACH && !c->host->interrupted(c->host->arg) && measure_both(c, out, &w))
        w.n++;
    double newest = mean_of(w.newest, w.n), oldest = mean_of(w.oldest, w.n), more = oldest - newest;
    out->slower = newest > 0 ? oldest / newest : 0;
    out->is_slow = w.stale && w.n == RUNS_EACH && more >= LOST_LEAST_NS && more >= LOST_SHARE * newest &&
                   dh_rank_sum_is_greater(w.oldest, w.n, w.newest, w.n);
}
