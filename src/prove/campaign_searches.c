/* Search processes of a campaign: their jobs, progress, and what their final state means for the goal. */
#include "base/alloc.h"
#include "base/str.h"
#include "host/process.h"
#include "prove/campaign_internal.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FOUND = 24u << 20,          /* bytes */
    ALL_VISIBLE_MOST = 1000000, /* accesses of a schedule in which all may be steps: it is cut at as many */
    HIDING_LEAST = 200000,      /* accesses of a run: of fewer, those that nobody asks for cost little */
};

/* ---- starting ---- */

/* Reproducible: from the seed of the campaign, the shard and the number of the search. Not a table hash. */
static uint64_t next_seed(struct campaign *c)
{
    uint64_t x = c->terms.o->seed * 0x9e3779b97f4a7c15u +
                 (c->job++ * c->terms.o->shards + c->terms.o->shard + 1) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    return (x ^ x >> 29) | 1;
}

static bool is_wanted(const struct campaign *c, const struct phase *p)
{
    return dh_strategy_by_name(p->strategy) &&
           (!c->terms.o->strategy || strcmp(p->strategy, "follow") == 0 ||
            strcmp(c->terms.o->strategy, p->strategy) == 0) &&
           !(c->terms.o->no_hint && strcmp(p->strategy, "directed") == 0);
}

/* Nothing leads to a finding whose places are not in this build, or are no accesses. */
static bool has_target(const struct goal_search *a, const struct phase *p)
{
    return strcmp(p->strategy, "directed") != 0 || a->place[0] || a->place[1];
}

/* Tests set another one. */
static uint64_t hiding_least(void)
{
    const char *set = getenv("DEADHEAT_HIDING_LEAST");
    long long n = set ? atoll(set) : 0;
    return n > 0 ? (uint64_t)n : HIDING_LEAST;
}

/* Where only steps at places of the goal matter, and many accesses of a schedule are none; or where it is to be found
 * out which accesses race, but not by systematic search. Who looks for livelocks needs to know by which way a thread
 * came back, who looks for uses of freed memory at given places each of them. */
static bool may_hide(const struct campaign *c, const struct goal_search *a, const struct phase *p)
{
    const uint32_t waits = 1u << DH_ENGINE_DEADLOCK | 1u << DH_ENGINE_LOST_WAKE;
    bool steps_matter = a->is_joint || a->is_pair || (a->look_for && !(a->look_for & ~waits));
    bool may_steps = steps_matter && p->flags & DH_ENGINE_NO_ORDER;
    bool may_order = p->flags & DH_ENGINE_EXTEND && !dh_strategy_by_name(p->strategy)->is_systematic;
    bool is_plain = !(p->flags & DH_ENGINE_ALL_VISIBLE) && !c->terms.o->judged;
    return c->terms.o->accesses >= hiding_least() && !c->hides_waiting && !c->terms.s->start.fresh && is_plain &&
           (may_steps || may_order);
}

struct dh_engine_job dh_campaign_job(struct campaign *c, const struct goal_search *a, const struct phase *p,
                                     uint64_t time_ns)
{
    bool hides = may_hide(c, a, p);
    struct dh_engine_job j = {.mode = DH_ENGINE_EXPLORE,
                              .carrier = DH_ENGINE_AUTO,
                              .seed = next_seed(c),
                              .schedules_max = c->terms.o->schedules,
                              .time_max_ns = time_ns,
                              .depth_max = c->terms.o->depth,
                              .preemptions_max = p->bound ? p->bound : c->terms.o->preemptions,
                              .flags =
                                  p->flags | DH_ENGINE_COVERAGE | (c->terms.o->spurious ? DH_ENGINE_SPURIOUS : 0u) |
                                  (hides ? DH_ENGINE_ONLY_VISIBLE : 0u) |
                                  (hides && (a->is_joint || p->flags & DH_ENGINE_EXTEND) ? DH_ENGINE_SPARE_BUSY : 0u),
                              .look_for = a->look_for,
                              .target_held = UINT32_MAX,
                              .shard = c->terms.n_goals ? 0 : c->terms.o->shard, /* goals are sharded instead */
                              .shards = c->terms.n_goals ? 1 : c->terms.o->shards,
                              .start = p->start,
                              .start_first = a->start_first,
                              .start_last = a->start_last,
                              .start_quantum = a->start_quantum};
    j.n_near = a->n_near;
    memcpy(j.start_near, a->start_near, sizeof j.start_near);
    bool hinted = !c->terms.o->no_hint;
    if (a->prefix) {
        memcpy(j.then, hinted ? "directed" : "random", sizeof "directed");
        j.target_held = c->terms.o->keep_first ? UINT32_MAX : a->prefix->held;
        j.target_frozen = c->terms.o->keep_first ? 0 : a->prefix->frozen;
        j.target_place[0] = a->prefix->place1;
        j.target_place[1] = a->prefix->place2;
        j.schedules_max = a->prefix->reaches ? 1 : 2000;
        j.flags |= DH_ENGINE_STOP_AT_FIRST;
    } else if (strcmp(p->strategy, "directed") == 0)
        memcpy(j.target_place, a->place, sizeof a->place);
    memcpy(j.strategy, p->strategy, strlen(p->strategy) + 1);
    return j;
}

static bool start_search(struct campaign *c, struct search_process *slot, struct goal_search *a, const struct phase *p)
{
    uint64_t now = dh_now_ns(), time_ns = a->budget_ns * p->percent / 100;
    uint64_t left = c->until_ns > now ? c->until_ns - now : 0;
    if (c->terms.o->strategy || a->next >= a->n_phases)
        time_ns = a->budget_ns; /* the last phase */
    time_ns = time_ns > c->terms.o->least_ns ? time_ns : c->terms.o->least_ns;
    time_ns = time_ns < left ? time_ns : left;
    bool is_afresh = p->afresh || dh_strategy_by_name(p->strategy)->is_systematic;
    const dh_engine_marks *visible = is_afresh && a->first ? a->first : a->visible;
    struct dh_engine_request w = {.job = dh_campaign_job(c, a, p, time_ns),
                                  .visible = visible,
                                  .found_bytes = FOUND,
                                  .output = DH_OUTPUT_DISCARDED};
    if (c->terms.o->judged)
        w.adversary = *c->terms.o->judged;
    w.job.start_max_ns = (left < a->budget_ns ? left : a->budget_ns) / 4;
    if (a->prefix) {
        w.prefix = a->prefix->decisions;
        w.prefix_length = a->prefix->n;
    }
    *slot =
        (struct search_process){.phase = p,
                                .goal_search = a,
                                .deadline_ns = now + dh_deadline_limit(time_ns + (p->start ? left / 2 : 0) + OVERTIME),
                                .seed = w.job.seed};
    slot->visible = dh_xmemdup(visible, (c->terms.s->start.places + 1) * sizeof *slot->visible);
    slot->control = dh_engine_process_start(&c->terms.s->start, &w, c->err);
    if (!slot->control) {
        free(slot->visible);
        c->failed = true;
        return false;
    }
    c->running++;
    c->strategy = p->strategy;
    return true;
}

static struct search_process *free_slot(struct campaign *c)
{
    for (unsigned i = 0; i < c->terms.o->jobs; i++)
        if (!c->slots[i].control)
            return &c->slots[i];
    return NULL;
}

/* A schedule in which every access is a step would not come to its end, and others need not be so long. */
static bool is_too_long(const struct goal_search *a, const struct phase *p)
{
    return p->flags & DH_ENGINE_ALL_VISIBLE && !(a->phases[0].flags & DH_ENGINE_ALL_VISIBLE) &&
           a->operations > ALL_VISIBLE_MOST;
}

/* What has no target, or too long a way, did all it can do. */
static bool is_useful(const struct campaign *c, struct goal_search *a, const struct phase *p)
{
    if (!has_target(a, p) || is_too_long(a, p))
        a->done |= 1u << (p - a->phases);
    return !(a->done >> (p - a->phases) & 1) && is_wanted(c, p);
}

static void start_searches(struct campaign *c, struct goal_search *a)
{
    struct search_process *slot;
    while (!a->over && !c->failed && (slot = free_slot(c))) {
        while (a->next < a->n_phases && !is_useful(c, a, &a->phases[a->next]))
            a->next++;
        if (a->next >= a->n_phases)
            return;
        const struct phase *p = &a->phases[a->next++];
        start_search(c, slot, a, p);
    }
}

/* ---- while they run ---- */

static void add_progress(struct campaign *c, struct search_process *s)
{
    const struct dh_engine_progress *p = &dh_engine_process_region(s->control)->progress;
    c->terms.out->schedules += p->schedules - s->counted;
    s->goal_search->gaps |= p->uncovered;
    s->goal_search->schedules += p->schedules - s->counted;
    c->terms.out->steps += p->steps - s->counted_steps;
    s->counted = p->schedules;
    s->counted_steps = p->steps;
    if (p->operations_most > s->goal_search->operations)
        s->goal_search->operations = p->operations_most;
    c->depth = p->depth_most > c->depth ? p->depth_most : c->depth;
    c->threads = p->threads_most > c->threads ? p->threads_most : c->threads;
    if (p->both > c->terms.out->both || !c->terms.out->pairs) {
        c->terms.out->pairs = p->pairs;
        c->terms.out->both = p->both;
    }
}

static void keep_unseen(struct campaign *c, const struct dh_engine_control *r)
{
    uint32_t known = c->terms.s->start.n_libraries;
    if (r->progress.unknown_libraries && !c->terms.out->unseen && known < DH_ENGINE_LIBRARIES)
        c->terms.out->unseen = dh_format("%.*s", DH_ENGINE_PATH - 1, r->libraries[known].path);
}

void dh_campaign_end_search(struct campaign *c, struct search_process *s)
{
    dh_campaign_keep_visible(c, s);
    keep_unseen(c, dh_engine_process_region(s->control));
    dh_engine_process_free(s->control);
    free(s->visible);
    *s = (struct search_process){0};
    c->running--;
}

static unsigned count_visible(const struct campaign *c, const struct search_process *s)
{
    unsigned n = dh_engine_process_region(s->control)->progress.visible_added;
    for (uint32_t i = 0; i < c->terms.s->start.places; i++)
        n += s->visible[i] != 0;
    return n;
}

/* The process is gone, and the engine did not end it. */
static char *words_of_death(const struct search_process *s)
{
    const struct dh_engine_progress *p = &dh_engine_process_region(s->control)->progress;
    char *status = dh_status_text(dh_engine_process_status(s->control));
    char *words = p->state == DH_ENGINE_STARTING     ? dh_strdup("the program ended before the engine was ready")
                  : p->state == DH_ENGINE_SEQUENTIAL ? dh_format("it ended with %s before its first thread", status)
                                                     : dh_format("the search ended with %s after %llu schedules",
                                                                 status, (unsigned long long)p->schedules);
    free(status);
    return words;
}

static void keep_reason(struct campaign *c, const char *text, char **kept)
{
    if (*kept)
        return;
    char *words = dh_subject_explain_places(c->terms.s, text);
    *kept = dh_starts_with(words, "cannot ") ? dh_strdup(words) : dh_format("cannot explore: %s", words);
    free(words);
}

static void keep_cannot(struct campaign *c, const char *text)
{
    keep_reason(c, text, &c->terms.out->cannot);
}

/* Were schedules cut at the limit of depth? */
static bool reached_depth(const struct dh_engine_control *r)
{
    enum { ENGINES_OWN = 1000000 };
    return r->progress.depth_most >= (r->job.depth_max ? r->job.depth_max : ENGINES_OWN);
}

/* In the second way. */
static void try_again(struct goal_search *a, const struct phase *p)
{
    a->next = (size_t)(p - a->phases);
    a->done &= ~(1u << a->next);
}

/* A search from the middle of a long run ends when more places become visible, and begins anew with them. */
static void repeat_phase(struct campaign *c, const struct search_process *s, const struct dh_engine_progress *p)
{
    enum { AGAIN = 4 };
    struct goal_search *a = s->goal_search;
    a->started_at = p->started_at > a->started_at ? p->started_at : a->started_at;
    if (p->recorded_steps || p->again) {
        a->start_first = p->again ? 0 : p->start_first;
        a->start_last = p->again ? 0 : p->start_last;
        a->start_quantum = p->again ? 0 : p->start_quantum;
        a->n_near = p->again || p->n_near > DH_ENGINE_NEAR ? 0 : p->n_near;
        memcpy(a->start_near, p->start_near, sizeof a->start_near);
    }
    if (p->hides_waiting && !c->hides_waiting) {
        c->hides_waiting = true;
        try_again(a, s->phase);
    } else if (p->again && a->again < AGAIN && !a->prefix) {
        a->again++;
        try_again(a, s->phase);
    }
}

/* What the final state of the process means for the goal. */
static void take_final_state(struct campaign *c, struct search_process *s)
{
    const struct dh_engine_control *r = dh_engine_process_region(s->control);
    struct goal_search *a = s->goal_search;
    char text[sizeof r->progress.text];
    memcpy(text, r->progress.text, sizeof text);
    text[sizeof text - 1] = 0;
    /* It did all it can do; of schedules that cannot go on, others may be spared by the next seed. */
    bool is_done = r->progress.state == DH_ENGINE_CANNOT
                       ? !r->progress.schedules
                       : r->progress.state != DH_ENGINE_SPENT && r->progress.state != DH_ENGINE_STOPPED;
    if (!a->prefix && is_done)
        a->done |= 1u << (s->phase - a->phases);
    switch (r->progress.state) {
    case DH_ENGINE_EXHAUSTED:
        a->cut += r->progress.abandoned;
        if (r->progress.is_exact) {
            a->tried_all = a->over = true;
            a->tried = r->progress.schedules;
            a->tried_places = count_visible(c, s);
            a->bounded = r->job.preemptions_max != UINT32_MAX || reached_depth(r) || r->job.shards > 1;
            a->checked_all = !(r->job.flags & DH_ENGINE_NO_ORDER) || (s->phase->flags & DH_ENGINE_ALL_VISIBLE);
        }
        break;
    case DH_ENGINE_NO_THREADS:
        c->terms.out->no_threads = a->over = true;
        dh_subject_learn_children(c->terms.s, r);
        break;
    case DH_ENGINE_CANNOT:
        if (dh_subject_take_second_way(c->terms.s, r->progress.irrevocable, text))
            try_again(a, s->phase);
        else
            keep_cannot(c, text[0] ? text : "no reason is known");
        break;
    case DH_ENGINE_STARTING:
    case DH_ENGINE_SEQUENTIAL: /* it did not come to its own end: _exit, or a signal */
    case DH_ENGINE_RUNNING: {
        dh_subject_learn_children(c->terms.s, r);
        char *words = words_of_death(s);
        if (c->terms.s->children.at.n)
            c->terms.out->no_threads = a->over = true;
        else
            keep_cannot(c, words);
        free(words);
        break;
    }
    }
    if (text[0] && r->progress.state != DH_ENGINE_CANNOT)
        keep_reason(c, text, r->progress.abandoned ? &c->terms.out->left_out : &c->terms.out->odd);
}

static void supervise(struct campaign *c, struct search_process *s)
{
    bool was_over = s->goal_search->over;
    bool has_ended = dh_engine_process_ended(s->control);
    dh_campaign_read_ends(c, s);
    add_progress(c, s);
    if (has_ended) {
        take_final_state(c, s);
        repeat_phase(c, s, &dh_engine_process_region(s->control)->progress);
        dh_campaign_end_search(c, s);
        return;
    }
    if (s->goal_search->over || c->stop)
        dh_engine_process_stop(s->control);
    /* A search whose goal is over is not waited for. */
    if (dh_now_ns() > s->deadline_ns || (s->goal_search->over && was_over))
        dh_campaign_end_search(c, s);
}

static void report_progress(struct campaign *c)
{
    uint64_t now = dh_now_ns();
    struct dh_campaign_state s = {.schedules = c->terms.out->schedules,
                                  .steps = c->terms.out->steps,
                                  .elapsed_ns = now - c->began_ns,
                                  .left_ns = c->until_ns > now ? c->until_ns - now : 0,
                                  .depth = c->depth,
                                  .threads = c->threads,
                                  .running = c->running,
                                  .proven = c->terms.out->proven,
                                  .goals = (unsigned)c->terms.n_goals,
                                  .unconfirmed = c->terms.out->unconfirmed,
                                  .pairs = c->terms.out->pairs,
                                  .both = c->terms.out->both,
                                  .strategy = c->strategy ? c->strategy : ""};
    c->terms.host->progress(c->terms.host->arg, &s);
}

bool dh_campaign_time_left(const struct campaign *c)
{
    return !c->failed && !c->stop && dh_now_ns() < c->until_ns;
}

void dh_campaign_pursue(struct campaign *c, struct goal_search *a)
{
    a->began_ns = dh_now_ns();
    for (;;) {
        if (c->terms.host->interrupted(c->terms.host->arg))
            c->stop = c->terms.out->interrupted = true;
        if (dh_campaign_time_left(c) && dh_now_ns() - a->began_ns < a->budget_ns)
            start_searches(c, a);
        if (!c->running)
            break;
        for (unsigned i = 0; i < c->terms.o->jobs; i++)
            if (c->slots[i].control)
                supervise(c, &c->slots[i]);
        report_progress(c);
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}
