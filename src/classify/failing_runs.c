/* Failing runs: minimised, confirmed with kernel threads, under the strongest model, and explained. */
#include "base/alloc.h"
#include "classify/campaign_internal.h"
#include "classify/explain.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>

enum { CONFIRMS = 4, MORE = 5 /* times as many runs for a model: long delayed stores are rare */ };
#define CONFIRM_NS 4000000000ull
#define CONFIRM_LEAST_NS 1000000000ull
#define STRONGER_NS 600000000ull /* for a model, at least */

/* Models by strength. */
static unsigned rank_of(const char *model)
{
    static const char *const models[] = {"sc", "tso", "pso", "c11", "hb", "hbmm"};
    unsigned i = 0;
    while (i < sizeof models / sizeof *models && strcmp(models[i], model) != 0)
        i++;
    return i;
}

/* ---- failures ---- */

void dh_failures_take(struct campaign *c, const struct dh_classify_column *column, struct dh_trial_result *r)
{
    for (size_t i = 0; i < r->found.n && i < CONFIRMS; i++) {
        struct failure f = {r->found.at[i], column, rank_of(column->model)};
        dh_vec_push(&c->failures, f);
        r->found.at[i] = NULL;
    }
}

void dh_failures_release(struct campaign *c)
{
    for (size_t i = 0; i < c->failures.n; i++)
        free(c->failures.at[i].found);
    c->failures.n = 0;
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

/* ---- explaining ---- */

/* Output that varies is no part of the witness. */
static void ignore_varying_output(const struct campaign *c, struct dh_engine_found *end)
{
    if (c->b.output_varies)
        end->outcome.output = UINT64_MAX;
    if (c->b.errors_vary)
        end->outcome.errors = UINT64_MAX;
}

static char *why_it_failed(struct campaign *c, struct dh_classified *out)
{
    const struct dh_engine_found *end = out->run.end;
    struct dh_str words = {0};
    char *line = dh_sanitizer_line(out->run.output.at);
    bool judged = end->kind == DH_ENGINE_WRONG && c->o->oracle && end->outcome.status == c->b.status;
    out->how = line ? "sanitizer" : judged ? "oracle" : dh_engine_end_names[end->kind];
    if (line)
        dh_str_addf(&words, "a sanitizer of its own reports: %s", line);
    else
        dh_explain_end(&words, c->s, end, out->run.output.at);
    if (end->kind == DH_ENGINE_WRONG && !line && !out->known)
        dh_str_addf(&words, ", which no run of the baseline does%s", judged ? ", and the oracle refuses" : "");
    if (out->known)
        dh_str_addf(&words, "; %s", out->known);
    free(line);
    return dh_str_take(&words);
}

void dh_failure_explain(struct campaign *c, struct dh_classified *out)
{
    struct dh_str read = {0};
    dh_str_add(&read, "");
    if (out->run.end->n_stale)
        dh_explain_read(&read, c->s, &out->run.end->stale[0]);
    else
        dh_str_add(&read, "every read got the newest value: the order of the threads alone does it");
    free(out->why);
    free(out->explanation);
    out->why = why_it_failed(c, out);
    out->explanation = dh_str_take(&read);
}

/* ---- confirming ---- */

/* The minimised run may end in a way that the oracle accepts. */
static bool is_refused(struct campaign *c, const struct dh_failing_run *r)
{
    bool accepts = false;
    if (!c->o->oracle || r->end->kind != DH_ENGINE_WRONG || r->end->outcome.status != c->b.status)
        return true;
    if (!dh_oracle_ask(c->o->oracle, r->output.at, r->output.n, &accepts, c->err))
        c->failed = true;
    return !accepts && !c->failed;
}

static bool is_access(const struct dh_engine_decision *d)
{
    return (d->kind == DH_STEP_READ || d->kind == DH_STEP_WRITE || d->kind == DH_STEP_COPY) &&
           !(d->flags & DH_STEP_ATOMIC);
}

/* Where the accesses of a thread go that follow a step of synchronisation: right after it, at its old time or at that
 * of the first access; or the thread of the stale read runs before all others. */
enum way { LATE, EARLY, FIRST, WAYS };

/* Adds the step of synchronisation that was held back for the thread. */
static uint32_t add_held(struct dh_engine_decision *to, const struct dh_failing_run *r, uint32_t n, uint32_t *kept,
                         uint32_t thread)
{
    if (kept[thread])
        to[n++] = r->schedule.decisions[kept[thread] - 1];
    kept[thread] = 0;
    return n;
}

/* The schedule with switches at synchronisation only, owned by the caller. */
static struct dh_engine_decision *without_preemption(const struct dh_failing_run *r, enum way way, uint32_t *n)
{
    uint32_t threads = 0;
    for (uint32_t i = 0; i < r->schedule.n; i++)
        threads = r->schedule.decisions[i].thread >= threads ? r->schedule.decisions[i].thread + 1 : threads;
    struct dh_engine_decision *to = dh_xcalloc(r->schedule.n + 1, sizeof *to);
    uint32_t *kept = dh_xcalloc(threads + 1, sizeof *kept);
    *n = 0;
    for (uint32_t i = 0; i < r->schedule.n; i++) {
        const struct dh_engine_decision *d = &r->schedule.decisions[i];
        if (!is_access(d) || way == LATE)
            *n = add_held(to, r, *n, kept, d->thread);
        if (!is_access(d))
            kept[d->thread] = i + 1;
        if (way == EARLY)
            *n = add_held(to, r, *n, kept, d->thread);
    }
    for (uint32_t t = 0; t < threads; t++)
        *n = add_held(to, r, *n, kept, t);
    free(kept);
    return to;
}

/* The decisions of the thread of the last stale read come first, after those of main that create it. */
static struct dh_engine_decision *with_reader_first(const struct dh_failing_run *r, uint32_t *n)
{
    const struct dh_engine_decision *d = r->schedule.decisions;
    uint32_t last = r->schedule.n, begins = 0;
    while (last && !dh_decision_is_stale(&d[last - 1], r->schedule.adversary.marks))
        last--;
    if (!last)
        return NULL;
    uint32_t thread = d[last - 1].thread;
    while (d[begins].thread != thread)
        begins++;
    struct dh_engine_decision *to = dh_xcalloc(r->schedule.n, sizeof *to);
    *n = 0;
    for (uint32_t i = 0; i < last; i++)
        if (d[i].thread == thread || (i < begins && !d[i].thread))
            to[(*n)++] = d[i];
    for (uint32_t i = 0; i < r->schedule.n; i++)
        if (i >= last || !(d[i].thread == thread || (i < begins && !d[i].thread)))
            to[(*n)++] = d[i];
    return to;
}

/* Does a run without preemption between synchronisation end the same? Then that output is right, too. */
static bool ends_so_without_preemption(struct campaign *c, const struct dh_failing_run *r, enum way way,
                                       uint64_t time_ns)
{
    uint32_t n = 0;
    struct dh_engine_decision *decisions = way == FIRST ? with_reader_first(r, &n) : without_preemption(r, way, &n);
    if (!decisions)
        return false;
    struct dh_schedule s = {.decisions = decisions,
                            .n = n,
                            .flags = r->schedule.flags & ~(uint32_t)(DH_ENGINE_ALL_VISIBLE | DH_ENGINE_ONLY_VISIBLE),
                            .adversary = {.judges = true}};
    struct dh_replayed how;
    struct dh_err ignored = {0};
    bool same = dh_replay(&c->s->start, &s, DH_REPLAY_LOOSE | DH_REPLAY_GO_ON, time_ns, &how, &ignored) &&
                dh_replayed_find(&how, r->end);
    dh_replayed_release(&how);
    dh_err_release(&ignored);
    free(decisions);
    return same;
}

/* If it failed by its output alone, the baseline may not have shown all right outputs. */
static bool is_doubtful(struct campaign *c, const struct dh_failing_run *r, uint64_t time_ns)
{
    if (c->o->oracle || r->end->kind != DH_ENGINE_WRONG || r->end->outcome.status != c->b.status)
        return false;
    bool right = false;
    for (enum way way = 0; way < WAYS && !right; way++)
        right = ends_so_without_preemption(c, r, way, time_ns);
    if (right) {
        dh_baseline_accept_output(&c->b, &r->end->outcome);
        c->is_doubtful = true;
    } else if (!c->doubted)
        c->is_doubtful = dh_baseline_repeat(&c->b, c->s, time_ns, c->err);
    c->doubted = true;
    return c->is_doubtful;
}

static bool confirms(struct campaign *c, const struct failure *f, const struct dh_schedule *as, uint64_t patience_ns,
                     struct dh_failing_run *out)
{
    if (dh_minimise_failure(c->s, f->found, as, patience_ns, out, c->err) && is_refused(c, out) &&
        !is_doubtful(c, out, patience_ns))
        return true;
    dh_failing_run_release(out);
    return false;
}

static bool confirm(struct campaign *c, const struct failure *f, struct dh_classified *out)
{
    struct adversarial_places d = dh_adversarial_places(c, out, f->column->tears);
    struct dh_schedule as = {.visible = d.visible,
                             .adversary = dh_baseline_adversary(&c->b, f->column->model, d.marks)};
    uint64_t patience = dh_time_left(c) / 2; /* within the budget */
    patience = patience < CONFIRM_LEAST_NS ? CONFIRM_LEAST_NS : patience < CONFIRM_NS ? patience : CONFIRM_NS;
    c->host->progress(c->host->arg, out->variable->name, "fewest stale reads", patience);
    struct dh_failing_run run;
    bool ok = confirms(c, f, &as, patience, &run) || (c->o->oracle && !c->failed && confirms(c, f, &as, 0, &run));
    if (!ok) {
        dh_adversarial_places_release(&d);
        out->unconfirmed++;
        return false;
    }
    if (out->failed) { /* replaced by one under a stronger model */
        free((void *)out->run.schedule.visible);
        free((void *)out->run.schedule.adversary.marks);
        dh_failing_run_release(&out->run);
    }
    out->run = run;
    ignore_varying_output(c, out->run.end);
    out->failed = f->column;
    out->verdict = DH_VERDICT_DESTRUCTIVE;
    if (!out->found_ns)
        out->found_ns = dh_now_ns() - (c->until_ns - out->budget_ns);
    dh_failure_explain(c, out);
    return true;
}

static bool confirm_any(struct campaign *c, struct dh_classified *out)
{
    bool done = false;
    if (c->failures.n)
        qsort(c->failures.at, c->failures.n, sizeof *c->failures.at, by_worth);
    for (size_t i = 0; i < c->failures.n && i < CONFIRMS && !done && !c->failed && !c->is_doubtful; i++)
        done = confirm(c, &c->failures.at[i], out);
    return done;
}

void dh_failures_confirm(struct campaign *c, struct dh_classified *out)
{
    confirm_any(c, out);
}

/* ---- the strongest model ---- */

/* Models between sc and hb. */
static const struct dh_classify_column stronger[] = {
    {.title = "random", .model = "tso", .heuristic = "random"},
    {.title = "random", .model = "pso", .heuristic = "random"},
    {.title = "oldest", .model = "c11", .heuristic = "oldest"},
    {.title = "random", .model = "c11", .heuristic = "random"},
};
enum { STRONGER = sizeof stronger / sizeof *stronger };

static bool fails_under(struct campaign *c, struct dh_classified *out, const struct dh_classify_column *column)
{
    struct dh_trial_result r;
    struct attempt a = {
        .column = column, .places = dh_adversarial_places(c, out, column->tears), .runs = MORE * c->o->runs};
    a.time_ns = dh_time_left(c) / 4 > STRONGER_NS ? dh_time_left(c) / 4 : STRONGER_NS;
    out->strongest = *column;
    c->host->progress(c->host->arg, out->variable->name, column->model, a.time_ns);
    bool found = false;
    if (dh_attempt_run(c, &a, &r)) {
        out->strongest.runs = r.schedules;
        out->strongest.failed = r.failed;
        out->strongest.stale_loads = r.stale_loads;
        dh_failures_take(c, &out->strongest, &r);
        found = c->failures.n;
        dh_trial_release(&r);
    }
    dh_adversarial_places_release(&a.places);
    return found;
}

void dh_failures_find_strongest_model(struct campaign *c, struct dh_classified *out)
{
    uint64_t unconfirmed = out->unconfirmed;
    if (!out->failed || c->o->model || rank_of(out->failed->model) < rank_of("hb"))
        return;
    bool tears = out->failed->tears, done = false;
    for (unsigned i = 0; i < STRONGER && !done && !c->failed && !c->host->interrupted(c->host->arg); i++) {
        struct dh_classify_column column = stronger[i];
        column.tears = tears;
        dh_failures_release(c);
        done = fails_under(c, out, &column) && confirm_any(c, out);
    }
    out->unconfirmed = unconfirmed; /* it is confirmed under hb */
}
