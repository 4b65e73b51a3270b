#include "classify/trial.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 200,    /* of the baseline */
    ENOUGH = 20,   /* of them to compare output */
    DEEPER = 20,   /* times the depth of the baseline, then a schedule is cut */
    DEPTH = 20000, /* at least */
    DEPTH_MOST = 1000000,
    MUCH_MORE = 10, /* times the operations of the baseline: a cut schedule is slow */
    HANG_MS = 3000, /* without a visible operation, plus HANG_RUNS runs of the baseline */
    HANG_RUNS = 20,
    PATIENCE_MS = 30000, /* for the baseline itself */
    SPARE_THREADS = 8,
    VARIES = 64 /* different outputs that are too many to be all */
};
#define OVERTIME 5000000000ull
#define FIRST_NS 15000000000ull /* for the first run of all */
#define FOUND (64ull << 20)

static const uint32_t failures = 1u << DH_ENGINE_DEADLOCK | 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_ASSERTION |
                                 1u << DH_ENGINE_CRASH | 1u << DH_ENGINE_FREED | 1u << DH_ENGINE_HANG |
                                 1u << DH_ENGINE_WRONG;

static bool is_failure(unsigned end)
{
    return failures >> end & 1;
}

static struct dh_engine_job job_of(const char *strategy, uint64_t seed, uint64_t schedules, uint64_t time_ns)
{
    struct dh_engine_job job = {.mode = DH_ENGINE_EXPLORE,
                                .seed = seed,
                                .schedules_max = schedules,
                                .time_max_ns = time_ns,
                                .preemptions_max = UINT32_MAX,
                                .target_held = UINT32_MAX,
                                .hang_ms = PATIENCE_MS,
                                .flags = DH_ENGINE_NO_RACES | DH_ENGINE_NO_ORDER,
                                .look_for = failures};
    strncpy(job.strategy, strategy, sizeof job.strategy - 1);
    return job;
}

static struct dh_engine_process *run(const struct dh_subject *s, struct dh_engine_request *w, struct dh_err *err)
{
    w->output = DH_OUTPUT_DISCARDED;
    w->found_bytes = FOUND;
    struct dh_engine_process *c = dh_engine_process_start(&s->start, w, err);
    if (c)
        dh_engine_process_wait(c, w->job.time_max_ns + OVERTIME);
    return c;
}

/* ---- the baseline ---- */

static void add_progress(struct dh_baseline *b, const struct dh_engine_control *r)
{
    const struct dh_engine_progress *p = &r->progress;
    b->n_outcomes = r->n_outcomes < DH_ENGINE_OUTCOMES ? r->n_outcomes : DH_ENGINE_OUTCOMES;
    memcpy(b->outcomes, r->outcomes, b->n_outcomes * sizeof *b->outcomes);
    b->schedules += p->schedules;
    b->operations += p->operations;
    b->operations_most = p->operations_most > b->operations_most ? p->operations_most : b->operations_most;
    b->depth = p->depth_most > b->depth ? p->depth_most : b->depth;
    b->threads = p->threads_most > b->threads ? p->threads_most : b->threads;
    b->no_threads = p->state == DH_ENGINE_NO_THREADS;
    uint64_t ns = p->schedules ? (p->now_ns - p->begun_ns) / p->schedules : 0;
    b->longest_ns = ns > b->longest_ns ? ns : b->longest_ns;
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++)
        b->ends[i] += p->ends[i];
    if (p->state == DH_ENGINE_CANNOT && !b->cannot)
        b->cannot = dh_strdup(p->text[0] ? p->text : "no reason is known");
    else if (p->state == DH_ENGINE_STARTING && !b->cannot)
        b->cannot = dh_strdup("the program ended before the engine was ready");
}

/* The run without preemption has the right exit status; random ones show how the output varies. */
static bool collect(struct dh_baseline *b, struct dh_subject *s, struct dh_engine_job job, struct dh_err *err)
{
    struct dh_engine_request w = {.job = job, .adversary = {.outcomes = b->outcomes, .n_outcomes = b->n_outcomes}};
    w.job.flags |= DH_ENGINE_COLLECT;
    struct dh_engine_process *c = run(s, &w, err);
    if (c) {
        const struct dh_engine_control *region = dh_engine_process_region(c);
        add_progress(b, region);
        dh_subject_learn_children(s, dh_engine_process_region(c));
        dh_subject_add_libraries(s, region->libraries, region->n_libraries);
    }
    dh_engine_process_free(c);
    return c;
}

/* Schedules with another status than the one without preemption failed. */
static void remove_wrong_status(struct dh_baseline *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_outcomes; i++)
        if (b->outcomes[i].status == b->status)
            b->outcomes[n++] = b->outcomes[i];
        else
            b->ends[DH_ENGINE_WRONG] += b->outcomes[i].times;
    b->n_outcomes = n;
}

bool dh_baseline_output_varies(const struct dh_baseline *b, bool errors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n_outcomes; i++) {
        bool known = false;
        for (uint32_t k = 0; k < i && !known; k++)
            known = errors ? b->outcomes[k].errors == b->outcomes[i].errors
                           : b->outcomes[k].output == b->outcomes[i].output;
        n += !known;
    }
    return n * 4 > b->schedules || n > VARIES;
}

static void ignore_varying_output(struct dh_baseline *b)
{
    for (uint32_t i = 0; i < b->n_outcomes; i++) {
        if (b->output_varies)
            b->outcomes[i].output = UINT64_MAX;
        if (b->errors_vary)
            b->outcomes[i].errors = UINT64_MAX;
    }
}

bool dh_baseline_collect(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns, struct dh_err *err)
{
    struct dh_engine_job first = job_of("bounded", 1, 1, time_ns > FIRST_NS ? time_ns : FIRST_NS);
    first.preemptions_max = 0;
    *b = (struct dh_baseline){0};
    if (!collect(b, s, first, err))
        return false;
    b->status = b->n_outcomes ? b->outcomes[0].status : 0;
    if (b->no_threads || b->cannot)
        return true;
    if (!collect(b, s, job_of("random", 1, RUNS, time_ns), err))
        return false;
    if (!b->n_outcomes && !b->cannot)
        b->cannot = dh_strdup("it never came to its end in runs without an adversary");
    remove_wrong_status(b);
    b->output_varies = b->schedules < ENOUGH || dh_baseline_output_varies(b, false);
    b->errors_vary = b->schedules < ENOUGH || dh_baseline_output_varies(b, true);
    ignore_varying_output(b);
    uint64_t ended = b->ends[DH_ENGINE_DONE];
    b->operations = ended ? b->operations / ended : 0;
    return true;
}

static bool has_output(const struct dh_baseline *b, const struct dh_engine_outcome *o, bool errors)
{
    for (uint32_t i = 0; i < b->n_outcomes; i++)
        if (errors ? b->outcomes[i].errors == o->errors : b->outcomes[i].output == o->output)
            return true;
    return false;
}

bool dh_baseline_repeat(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns, struct dh_err *err)
{
    struct dh_baseline more = {0};
    bool output = b->output_varies, errors = b->errors_vary;
    if (!collect(&more, s, job_of("random", 2, RUNS, time_ns), err))
        return false;
    for (uint32_t i = 0; i < more.n_outcomes; i++) {
        const struct dh_engine_outcome *o = &more.outcomes[i];
        b->output_varies |= o->status == b->status && !output && !has_output(b, o, false);
        b->errors_vary |= o->status == b->status && !errors && !has_output(b, o, true);
    }
    ignore_varying_output(b);
    dh_baseline_release(&more);
    return b->output_varies != output || b->errors_vary != errors;
}

void dh_baseline_accept_output(struct dh_baseline *b, const struct dh_engine_outcome *o)
{
    b->output_varies |= !has_output(b, o, false);
    b->errors_vary |= !has_output(b, o, true);
    ignore_varying_output(b);
}

bool dh_baseline_collect_status(struct dh_baseline *b, struct dh_subject *s, uint64_t time_ns)
{
    struct dh_err err = {0};
    bool ok = dh_baseline_collect(b, s, time_ns, &err) && !b->cannot && !b->no_threads && b->status == 0;
    b->outcomes[0] = (struct dh_engine_outcome){.status = 0, .output = UINT64_MAX, .errors = UINT64_MAX};
    b->n_outcomes = 1;
    dh_err_release(&err);
    return ok;
}

void dh_baseline_release(struct dh_baseline *b)
{
    free(b->cannot);
    b->cannot = NULL;
}

struct dh_adversary_setup dh_baseline_adversary(const struct dh_baseline *b, const char *model, const uint8_t *marks)
{
    struct dh_adversary_setup a = {
        .marks = marks, .outcomes = b->outcomes, .n_outcomes = b->n_outcomes, .judges = true};
    a.threads = b->threads + SPARE_THREADS;
    a.elements = b->elements;
    a.n_elements = b->n_elements;
    strncpy(a.model, model, sizeof a.model - 1);
    return a;
}

/* ---- with an adversary ---- */

static int by_stale(const void *a, const void *b)
{
    const struct dh_engine_found *x = *(struct dh_engine_found *const *)a, *y = *(struct dh_engine_found *const *)b;
    if (x->n_stale != y->n_stale)
        return x->n_stale < y->n_stale ? -1 : 1;
    return x->n_decisions < y->n_decisions ? -1 : x->n_decisions > y->n_decisions;
}

static void read_found(struct dh_engine_control *c, const struct dh_baseline *b, struct dh_trial_result *out)
{
    const struct dh_engine_found *f;
    for (uint64_t at = 0; (f = dh_engine_found_at(c, at));) {
        struct dh_engine_found *copy = dh_found_end_copy(f, c->found_size - at);
        if (!copy)
            return;
        at += copy->size;
        if (is_failure(copy->kind) && !b->ends[copy->kind])
            dh_vec_push(&out->found, copy);
        else
            free(copy);
    }
    if (out->found.n)
        qsort(out->found.at, out->found.n, sizeof *out->found.at, by_stale);
}

/* Ends of the baseline are no failures. */
static void read_progress(const struct dh_engine_control *c, const struct dh_baseline *b, struct dh_trial_result *out)
{
    const struct dh_engine_progress *p = &c->progress;
    *out = (struct dh_trial_result){.schedules = p->schedules,
                                    .cut = p->ends[DH_ENGINE_CUT] - p->unjustified,
                                    .operations_most = p->operations_most,
                                    .shared = p->shared,
                                    .locations = p->locations,
                                    .stores = p->stores,
                                    .buffer_most = p->buffer_most,
                                    .buffer_written = p->buffer_written,
                                    .loads = p->loads,
                                    .open_loads = p->open_loads,
                                    .stale_loads = p->stale_loads,
                                    .stale_schedules = p->stale_schedules,
                                    .unjustified = p->unjustified,
                                    .time_ns = p->now_ns - p->begun_ns,
                                    .state = p->state,
                                    .is_exact = p->is_exact};
    memcpy(out->text, p->text, sizeof out->text);
    memcpy(out->works, p->works, sizeof out->works);
    out->n_works = p->n_works < DH_ENGINE_WORKS ? (uint32_t)p->n_works : DH_ENGINE_WORKS;
    out->text[sizeof out->text - 1] = 0;
    for (unsigned i = 0; i < DH_ENGINE_ENDS; i++) {
        out->ends[i] = p->ends[i];
        if (is_failure(i) && !b->ends[i])
            out->failed += p->ends[i];
    }
    uint64_t ended = p->ends[DH_ENGINE_DONE] + p->ends[DH_ENGINE_WRONG];
    out->operations = ended ? p->operations / ended : 0;
}

static void read_met(struct dh_engine_control *c, const uint8_t *marks, uint32_t places, struct dh_trial_result *out)
{
    out->met = dh_xcalloc(places + 1, 1);
    for (uint32_t i = 0; i < places && i < c->adversary_size; i++)
        out->met[i] = marks && !marks[i] && dh_engine_adversary(c)[i] == DH_ENGINE_MET;
}

bool dh_trial_run(const struct dh_trial *r, const struct dh_subject *s, const struct dh_baseline *b,
                  struct dh_trial_result *out, struct dh_err *err)
{
    struct dh_engine_request w = {.job = job_of(r->strategy ? r->strategy : "dpor", r->seed, r->schedules, r->time_ns),
                                  .visible = r->visible,
                                  .adversary = dh_baseline_adversary(b, r->model, r->marks)};
    strncpy(w.job.heuristic, r->heuristic, sizeof w.job.heuristic - 1);
    if (r->systematic) /* all values in all schedules; whatever else races is looked for, and makes it inexact */
        w.job.flags = (w.job.flags | DH_ENGINE_SYSTEMATIC) & ~(uint32_t)DH_ENGINE_NO_ORDER;
    w.job.hang_ms = HANG_MS + HANG_RUNS * (uint32_t)(b->longest_ns / 1000000);
    w.job.fairness = r->fairness;
    w.job.flags |= r->in_line ? DH_ENGINE_INLINE : 0;
    memcpy(w.job.target_place, r->target, sizeof w.job.target_place);
    uint64_t depth = (b->depth + b->operations_most) * DEEPER;
    w.job.depth_max = (uint32_t)(depth < DEPTH ? DEPTH : depth < DEPTH_MOST ? depth : DEPTH_MOST);
    *out = (struct dh_trial_result){0};
    struct dh_engine_process *c = run(s, &w, err);
    if (!c)
        return false;
    read_progress(dh_engine_process_region(c), b, out);
    read_met(dh_engine_process_region(c), r->marks, s->start.places, out);
    if (w.job.depth_max < MUCH_MORE * (b->depth + b->operations_most))
        out->cut = 0; /* too few operations to count as slow */
    read_found(dh_engine_process_region(c), b, out);
    dh_engine_process_free(c);
    return true;
}

void dh_trial_release(struct dh_trial_result *r)
{
    for (size_t i = 0; i < r->found.n; i++)
        free(r->found.at[i]);
    dh_vec_release(&r->found);
    free(r->met);
    r->met = NULL;
}
