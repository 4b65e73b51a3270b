#include "prove/campaign.h"

#include "base/str.h"
#include "base/vec.h"
#include "prove/beginnings.h"
#include "prove/minimise.h"
#include "search/strategy.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS 1000000ull

enum {
    SWITCHES_FINE = 8, /* of a witness: more are worth another search */
    TRIES = 3,         /* schedules per finding that are replayed before it is given up */
    FOUND = 24u << 20, /* bytes */
};
#define SHORTEN_NS (150 * MS)
#define PATIENCE (60000 * MS) /* of a replay */
#define OVERTIME (1500 * MS)  /* that a process may take beyond its time */

/* ---- what is searched in which way ---- */

struct phase {
    const char *strategy;
    uint32_t flags;   /* enum dh_engine_flag */
    unsigned percent; /* of the time */
    unsigned bound;   /* preemptions; 0: the campaign's */
};

/* From a beginning of which one of the two accesses is the end. */
static const struct phase prefix_phases[] = {{"follow", DH_ENGINE_NO_ORDER, 100, 0}};

/* For a pair of places: towards it, then at random, then all. */
static const struct phase pair_phases[] = {
    {"directed", DH_ENGINE_NO_ORDER, 8, 0}, {"random", DH_ENGINE_NO_ORDER, 4, 0}, {"dpor", 0, 40, 0},
    {"pct", DH_ENGINE_NO_ORDER, 24, 0},     {"pos", DH_ENGINE_NO_ORDER, 24, 0},
};

/* For everything: synchronisation, atomics and whatever turns out to be unordered; then every access. What is small
 * is exhausted soon, so that comes early. */
static const struct phase all_phases[] = {
    {"random", DH_ENGINE_EXTEND, 3, 0},    {"pct", DH_ENGINE_EXTEND, 3, 0},
    {"dpor", DH_ENGINE_EXTEND, 34, 0},     {"pos", DH_ENGINE_EXTEND, 15, 0},
    {"pct", DH_ENGINE_EXTEND, 15, 0},      {"random", DH_ENGINE_ALL_VISIBLE, 10, 0},
    {"pct", DH_ENGINE_ALL_VISIBLE, 10, 0}, {"pos", DH_ENGINE_ALL_VISIBLE, 10, 0},
};

struct aim {
    struct dh_goal *goal; /* NULL: everything */
    uint8_t *visible;
    uint8_t *sides; /* per place: 1, 2 or both, for what the first and the others of its accesses name */
    uint32_t place[2];
    bool is_pair; /* of accesses */
    uint32_t look_for;
    const struct phase *phases;
    size_t n_phases, next;
    uint64_t budget_ns, began_ns;
    uint64_t schedules;
    const struct dh_beginning *prefix; /* to begin with, or NULL */
    bool over;                         /* proven, or nothing more to be found */
    bool tried_all;
    bool checked_all; /* accesses that are no steps were checked, too */
    bool bounded;     /* something kept the search from being complete */
};

struct search {
    struct dh_control *control;
    const struct phase *phase;
    struct aim *aim;
    uint8_t *visible;
    uint64_t read; /* bytes of the found area */
    uint64_t deadline_ns;
    uint64_t counted, counted_steps;
    uint64_t seed;
};

/* A finding by its id: how often its schedules were replayed in vain. */
struct known {
    char id[17];
    unsigned tries;
    bool proven;
    struct dh_engine_found *unordered; /* seen so, or NULL; owned */
};

struct campaign {
    struct dh_subject *s;
    const struct dh_campaign_options *o;
    struct dh_goal *goals;
    size_t n_goals;
    const struct dh_campaign_host *host;
    struct dh_campaign_result *out;
    struct search *slots;
    unsigned running;
    uint64_t began_ns, until_ns, job;
    DH_VEC(struct known) known;
    uint32_t depth, threads;
    bool failed, stop;
    const char *strategy;
    struct dh_err *err;
};

const char *dh_verdict_words(enum dh_verdict v)
{
    static const char *const words[] = {
        [DH_OPEN] = "budget spent before it was looked for",
        [DH_PROVEN] = "proven",
        [DH_REFUTED] = "refuted within bounds",
        [DH_EXHAUSTED] = "exhausted",
        [DH_SPENT] = "budget spent",
        [DH_SKIPPED] = "not looked for",
    };
    return words[v];
}

/* ---- starting searches ---- */

/* Reproducible whatever the machine does: by the campaign's seed, the shard and the number of the search. */
static uint64_t next_seed(struct campaign *c)
{
    uint64_t x = c->o->seed * 0x9e3779b97f4a7c15u + (c->job++ * c->o->shards + c->o->shard + 1) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    return (x ^ x >> 29) | 1;
}

static bool is_wanted(const struct campaign *c, const struct phase *p)
{
    return dh_strategy_by_name(p->strategy) &&
           (!c->o->strategy || p == prefix_phases || strcmp(c->o->strategy, p->strategy) == 0) &&
           !(c->o->no_hint && strcmp(p->strategy, "directed") == 0);
}

static struct dh_engine_job job_of(struct campaign *c, const struct aim *a, const struct phase *p, uint64_t time_ns)
{
    struct dh_engine_job j = {.mode = DH_ENGINE_EXPLORE,
                              .carrier = DH_ENGINE_AUTO,
                              .seed = next_seed(c),
                              .schedules_max = c->o->schedules,
                              .time_max_ns = time_ns,
                              .depth_max = c->o->depth,
                              .preemptions_max = p->bound ? p->bound : c->o->preemptions,
                              .flags = p->flags | DH_ENGINE_COVERAGE | (c->o->spurious ? DH_ENGINE_SPURIOUS : 0u),
                              .look_for = a->look_for,
                              .target_held = UINT32_MAX,
                              .shard = c->n_goals ? 0 : c->o->shard, /* goals are dealt out themselves */
                              .shards = c->n_goals ? 1 : c->o->shards};
    bool hinted = !c->o->no_hint;
    if (a->prefix) {
        memcpy(j.then, hinted ? "directed" : "random", sizeof "directed");
        j.target_held = c->o->keep_first ? UINT32_MAX : a->prefix->held;
        j.target_frozen = c->o->keep_first ? 0 : a->prefix->frozen;
        j.target_place[0] = a->prefix->place1;
        j.target_place[1] = a->prefix->place2;
        j.schedules_max = a->prefix->reaches ? 1 : 2000;
        j.flags |= DH_ENGINE_STOP_AT_FIRST;
    } else if (strcmp(p->strategy, "directed") == 0)
        memcpy(j.target_place, a->place, sizeof a->place);
    memcpy(j.strategy, p->strategy, strlen(p->strategy) + 1);
    return j;
}

static bool start_search(struct campaign *c, struct search *slot, struct aim *a, const struct phase *p)
{
    uint64_t now = dh_now_ns(), time_ns = a->budget_ns * p->percent / 100;
    uint64_t left = c->until_ns > now ? c->until_ns - now : 0;
    if (c->o->strategy || a->next >= a->n_phases)
        time_ns = a->budget_ns; /* nothing comes after it */
    time_ns = time_ns < left ? time_ns : left;
    struct dh_work w = {
        .job = job_of(c, a, p, time_ns), .visible = a->visible, .found_bytes = FOUND, .output = DH_OUTPUT_NOWHERE};
    if (a->prefix) {
        w.prefix = a->prefix->decisions;
        w.prefix_length = a->prefix->n;
    }
    *slot = (struct search){.phase = p, .aim = a, .deadline_ns = now + time_ns + OVERTIME, .seed = w.job.seed};
    slot->visible = malloc(c->s->start.places + 1);
    if (!slot->visible)
        abort();
    memcpy(slot->visible, a->visible, c->s->start.places);
    slot->control = dh_control_start(&c->s->start, &w, c->err);
    if (!slot->control) {
        free(slot->visible);
        c->failed = true;
        return false;
    }
    c->running++;
    c->strategy = p->strategy;
    return true;
}

static struct search *free_slot(struct campaign *c)
{
    for (unsigned i = 0; i < c->o->jobs; i++)
        if (!c->slots[i].control)
            return &c->slots[i];
    return NULL;
}

static void start_searches(struct campaign *c, struct aim *a)
{
    struct search *slot;
    while (!a->over && !c->failed && (slot = free_slot(c))) {
        while (a->next < a->n_phases && !is_wanted(c, &a->phases[a->next]))
            a->next++;
        if (a->next >= a->n_phases)
            return;
        const struct phase *p = &a->phases[a->next++];
        start_search(c, slot, a, p);
    }
}

/* ---- what was found ---- */

static struct known *known_of(struct campaign *c, const char *id)
{
    for (size_t i = 0; i < c->known.n; i++)
        if (strcmp(c->known.at[i].id, id) == 0)
            return &c->known.at[i];
    struct known k = {0};
    memcpy(k.id, id, strnlen(id, sizeof k.id - 1));
    dh_vec_push(&c->known, k);
    return &c->known.at[c->known.n - 1];
}

static struct dh_goal *goal_of(struct campaign *c, const char *id)
{
    for (size_t i = 0; i < c->n_goals; i++)
        if (strcmp(c->goals[i].finding->id, id) == 0)
            return &c->goals[i];
    return NULL;
}

/* Whether the program, run with kernel threads, comes to that end. What it does behind it is cut off; the values that
 * its accesses had become the schedule's, whose caller releases them. */
static bool is_confirmed(struct campaign *c, struct dh_schedule *s, const struct dh_engine_found *end)
{
    struct dh_replayed r;
    struct dh_err ignored = {0};
    const struct dh_engine_found *again = NULL;
    if (dh_replay(&c->s->start, s, 0, PATIENCE, &r, &ignored))
        again = dh_replayed_find(&r, end);
    if (again && again->n_decisions < s->n)
        s->n = again->n_decisions;
    if (again)
        s->values = dh_values_of(again, s->n);
    bool same = again;
    dh_replayed_release(&r);
    dh_err_release(&ignored);
    return same;
}

/* Whether the beginning was all there was to it. */
static const char *how_from_prefix(const struct dh_beginning *p, const struct dh_engine_found *end)
{
    return end->n_decisions <= p->n ? "prefix" : "prefix and search";
}

static bool tell(struct campaign *c, const struct search *from, const struct dh_schedule *s,
                 const struct dh_engine_found *end, const struct dh_engine_found *found, const struct dh_finding *f)
{
    struct dh_goal *goal = goal_of(c, f->id);
    struct dh_witness w;
    dh_subject_witness(c->s, s, end, f->id, &w);
    bool same_build = goal && strcmp(goal->finding->build, f->build) == 0;
    struct dh_proof p = {.finding = same_build ? goal->finding : f,
                         .is_new = !goal,
                         .witness = &w,
                         .schedule = s,
                         .end = end,
                         .schedules = found->schedule,
                         .time_ns = dh_now_ns() - c->began_ns,
                         .strategy =
                             from->aim->prefix ? how_from_prefix(from->aim->prefix, found) : from->phase->strategy,
                         .steps_before = found->n_decisions,
                         .switches_before = dh_switches(found->decisions, found->n_decisions),
                         .switches = dh_switches(s->decisions, s->n)};
    bool ok = c->host->proven(c->host->arg, &p);
    dh_witness_release(&w);
    if (goal)
        goal->verdict = DH_PROVEN;
    c->out->by_prefix += from->aim->prefix && found->n_decisions <= from->aim->prefix->n;
    c->out->proven++;
    c->failed = c->failed || !ok;
    return ok;
}

/* A record as the program wrote it into memory that we share is copied before it is believed. */
static struct dh_engine_found *copy_of(const struct dh_engine_found *f, uint64_t room)
{
    uint32_t size = __atomic_load_n(&f->size, __ATOMIC_RELAXED);
    if (room < sizeof *f || size < sizeof *f || size > room || size % 8)
        return NULL;
    struct dh_engine_found *copy = malloc(size);
    if (!copy)
        abort();
    memcpy(copy, f, size);
    copy->size = size;
    copy->text[DH_ENGINE_TEXT - 1] = 0;
    if ((uint64_t)copy->n_decisions * sizeof *copy->decisions > size - sizeof *copy || copy->kind >= DH_ENGINE_ENDS) {
        free(copy);
        return NULL;
    }
    return copy;
}

/* What was visible when that end was come to. Owned by the caller. */
static uint8_t *visible_for(const struct campaign *c, const struct search *from, const struct dh_engine_found *end)
{
    const struct dh_engine_progress *p = &dh_control_region(from->control)->progress;
    uint8_t *visible = malloc(c->s->start.places + 1);
    if (!visible)
        abort();
    memcpy(visible, from->visible, c->s->start.places);
    for (uint32_t i = 0; i < end->visible_added && i < DH_ENGINE_ADDED; i++)
        if (p->added[i] < c->s->start.places)
            visible[p->added[i]] |= DH_ENGINE_VISIBLE;
    return visible;
}

/* A schedule under way to a witness: the end that was found, and what is left of its decisions. */
struct draft {
    struct dh_engine_found *end; /* owned */
    struct dh_engine_decision *decisions;
    struct dh_schedule schedule;
};

static void release_draft(struct draft *d)
{
    free(d->end);
    free(d->decisions);
    free((void *)d->schedule.values);
    *d = (struct draft){0};
}

static struct draft draft_of(struct campaign *c, const struct dh_engine_found *end, const struct dh_schedule *like)
{
    struct draft d = {.end = copy_of(end, end->size), .decisions = calloc(end->n_decisions + 1, sizeof *d.decisions)};
    if (!d.end || !d.decisions)
        abort();
    d.schedule = *like;
    d.schedule.decisions = d.decisions;
    if (c->o->as_found) {
        d.schedule.n = end->n_decisions;
        memcpy(d.decisions, end->decisions, end->n_decisions * sizeof *d.decisions);
    } else
        d.schedule.n = dh_minimise(end->decisions, end->n_decisions, end, dh_subject_bytes, c->s, d.decisions);
    return d;
}

static uint32_t switches_of(const struct draft *d)
{
    return dh_switches(d->schedule.decisions, d->schedule.n);
}

/* The same end by fewer switches, from a schedule that is known to lead there: what the search for it came to last. */
static bool shorten(struct campaign *c, const struct draft *from, struct draft *out)
{
    const struct dh_engine_found *end = from->end, *f;
    struct phase p = {"shorten", (from->schedule.flags & DH_ENGINE_ALL_VISIBLE) | DH_ENGINE_NO_ORDER, 0, 0};
    struct aim a = {.look_for = 1u << end->kind};
    struct dh_work w = {.job = job_of(c, &a, &p, SHORTEN_NS),
                        .visible = from->schedule.visible,
                        .prefix = from->schedule.decisions,
                        .prefix_length = from->schedule.n,
                        .found_bytes = sizeof *f + (2 * from->schedule.n + 1024) * sizeof *f->decisions,
                        .output = DH_OUTPUT_NOWHERE};
    w.job.flags = (w.job.flags & ~(uint32_t)DH_ENGINE_COVERAGE) | DH_ENGINE_ONLY_TARGET;
    w.job.target_signature = dh_engine_signature(end->kind, end->parties, end->n_parties, end->text);
    if (end->kind == DH_ENGINE_RACE)
        for (unsigned i = 0; i < 2; i++)
            w.job.target_place[i] = end->parties[i].place;
    struct dh_control *control = dh_control_start(&c->s->start, &w, c->err);
    if (!control) {
        c->failed = true;
        return false;
    }
    dh_control_wait(control, w.job.time_max_ns + OVERTIME);
    struct dh_engine_control *region = dh_control_region(control);
    struct dh_engine_found *found = (f = dh_engine_found_at(region, 0)) ? copy_of(f, region->found_size) : NULL;
    dh_control_free(control);
    if (found)
        *out = draft_of(c, found, &from->schedule);
    free(found);
    return out->end && switches_of(out) < switches_of(from);
}

/* What it leads to may be the same finding by another thread. */
static bool confirm_shorter(struct campaign *c, struct search *from, struct draft *d, const struct dh_engine_found *end,
                            const char *id)
{
    struct dh_finding f;
    dh_ending_finding(&c->s->of, d->end, &f);
    bool ok = strcmp(f.id, id) == 0 && is_confirmed(c, &d->schedule, d->end);
    if (ok)
        tell(c, from, &d->schedule, d->end, end, &f);
    dh_finding_release(&f);
    return ok;
}

/* The shortest schedule that holds with kernel threads: with fewer switches, minimised, as it was found. */
static bool confirm(struct campaign *c, struct search *from, const struct dh_engine_found *end,
                    const struct dh_finding *f)
{
    uint8_t *visible = visible_for(c, from, end);
    struct dh_schedule whole = {.decisions = end->decisions,
                                .n = end->n_decisions,
                                .visible = visible,
                                .flags = from->phase->flags | (c->o->spurious ? DH_ENGINE_SPURIOUS : 0u)};
    struct draft d = draft_of(c, end, &whole), shorter = {0};
    bool is_long = !c->o->as_found && switches_of(&d) > SWITCHES_FINE;
    bool ok = is_long && shorten(c, &d, &shorter) && confirm_shorter(c, from, &shorter, end, f->id);
    if (!ok && (ok = is_confirmed(c, &d.schedule, end)))
        tell(c, from, &d.schedule, end, end, f);
    if (!ok && !c->o->as_found && (ok = is_confirmed(c, &whole, end)))
        tell(c, from, &whole, end, end, f);
    free((void *)whole.values);
    release_draft(&d);
    release_draft(&shorter);
    free(visible);
    return ok;
}

/* What the search made visible while it went on is so from the beginning in those that come. */
static void extend(const struct campaign *c, const struct search *from)
{
    const struct dh_engine_progress *p = &dh_control_region(from->control)->progress;
    for (uint32_t i = 0; i < p->visible_added && i < DH_ENGINE_ADDED; i++)
        if (p->added[i] < c->s->start.places)
            from->aim->visible[p->added[i]] |= DH_ENGINE_VISIBLE;
}

static void note_unordered(struct campaign *c, const struct dh_engine_found *f)
{
    struct dh_finding finding;
    dh_ending_finding(&c->s->of, f, &finding);
    struct known *k = known_of(c, finding.id);
    if (!k->unordered)
        k->unordered = copy_of(f, f->size);
    dh_finding_release(&finding);
}

static void tell_unordered(struct campaign *c)
{
    for (size_t i = 0; i < c->known.n; i++) {
        struct known *k = &c->known.at[i];
        if (k->unordered && !k->proven && c->host->observed) {
            struct dh_finding finding;
            dh_ending_finding(&c->s->of, k->unordered, &finding);
            c->host->observed(c->host->arg, &finding);
            dh_finding_release(&finding);
        }
        free(k->unordered);
    }
}

static void take_found(struct campaign *c, struct search *from, const struct dh_engine_found *f)
{
    struct dh_finding finding;
    if (f->kind == DH_ENGINE_UNORDERED) { /* the engine goes after it by itself */
        note_unordered(c, f);
        return;
    }
    dh_ending_finding(&c->s->of, f, &finding);
    struct known *k = known_of(c, finding.id);
    if (!k->proven && k->tries < TRIES) {
        size_t at = (size_t)(k - c->known.at);
        bool proven = confirm(c, from, f, &finding);
        k = &c->known.at[at];
        k->proven = proven;
        k->tries++;
        c->out->unconfirmed += !proven && k->tries == TRIES;
        if (proven && (c->o->first || (from->aim->goal && from->aim->goal->verdict == DH_PROVEN)))
            from->aim->over = true;
        c->stop = c->stop || (proven && c->o->first);
    }
    dh_finding_release(&finding);
}

static void read_found(struct campaign *c, struct search *s)
{
    struct dh_engine_control *region = dh_control_region(s->control);
    const struct dh_engine_found *f;
    while (!c->failed && !c->stop && (f = dh_engine_found_at(region, s->read))) {
        struct dh_engine_found *copy = copy_of(f, region->found_size - s->read);
        if (!copy) {
            s->read = region->found_size;
            return;
        }
        s->read += copy->size;
        take_found(c, s, copy);
        free(copy);
    }
}

/* ---- while they run ---- */

static void count(struct campaign *c, struct search *s)
{
    const struct dh_engine_progress *p = &dh_control_region(s->control)->progress;
    c->out->schedules += p->schedules - s->counted;
    s->aim->schedules += p->schedules - s->counted;
    c->out->steps += p->steps - s->counted_steps;
    s->counted = p->schedules;
    s->counted_steps = p->steps;
    c->depth = p->depth_most > c->depth ? p->depth_most : c->depth;
    c->threads = p->threads_most > c->threads ? p->threads_most : c->threads;
    if (p->both > c->out->both || !c->out->pairs) {
        c->out->pairs = p->pairs;
        c->out->both = p->both;
    }
}

static void end_search(struct campaign *c, struct search *s)
{
    extend(c, s);
    dh_control_free(s->control);
    free(s->visible);
    *s = (struct search){0};
    c->running--;
}

static void note_cannot(struct campaign *c, const char *text)
{
    if (c->out->cannot)
        return;
    char *words = dh_subject_explain(c->s, text);
    c->out->cannot = dh_starts_with(words, "cannot ") ? dh_strdup(words) : dh_format("cannot explore: %s", words);
    free(words);
}

/* Whether schedules were cut because they became too long. */
static bool reached_depth(const struct dh_engine_control *r)
{
    enum { ENGINES_OWN = 1000000 };
    return r->progress.depth_most >= (r->job.depth_max ? r->job.depth_max : ENGINES_OWN);
}

/* What its end says of what was looked for. */
static void judge(struct campaign *c, struct search *s)
{
    const struct dh_engine_control *r = dh_control_region(s->control);
    struct aim *a = s->aim;
    char text[sizeof r->progress.text];
    memcpy(text, r->progress.text, sizeof text);
    text[sizeof text - 1] = 0;
    switch (r->progress.state) {
    case DH_ENGINE_EXHAUSTED:
        if (r->progress.is_exact) {
            a->tried_all = a->over = true;
            a->bounded = r->job.preemptions_max != UINT32_MAX || reached_depth(r) || r->job.shards > 1;
            a->checked_all = !(r->job.flags & DH_ENGINE_NO_ORDER) || (s->phase->flags & DH_ENGINE_ALL_VISIBLE);
        }
        break;
    case DH_ENGINE_NO_THREADS:
        c->out->no_threads = a->over = true;
        break;
    case DH_ENGINE_CANNOT:
        note_cannot(c, text[0] ? text : "no reason is known");
        break;
    case DH_ENGINE_STARTING:
        note_cannot(c, "the program ended before the engine was ready");
        break;
    }
}

static void look_after(struct campaign *c, struct search *s)
{
    bool was_over = s->aim->over;
    bool has_ended = dh_control_ended(s->control);
    read_found(c, s);
    count(c, s);
    if (has_ended) {
        judge(c, s);
        end_search(c, s);
        return;
    }
    if (s->aim->over || c->stop)
        dh_control_stop(s->control);
    /* Those that are of no use any more need not be waited for. */
    if (dh_now_ns() > s->deadline_ns || (s->aim->over && was_over))
        end_search(c, s);
}

static void tell_progress(struct campaign *c)
{
    uint64_t now = dh_now_ns();
    struct dh_campaign_state s = {.schedules = c->out->schedules,
                                  .steps = c->out->steps,
                                  .elapsed_ns = now - c->began_ns,
                                  .left_ns = c->until_ns > now ? c->until_ns - now : 0,
                                  .depth = c->depth,
                                  .threads = c->threads,
                                  .running = c->running,
                                  .proven = c->out->proven,
                                  .goals = (unsigned)c->n_goals,
                                  .unconfirmed = c->out->unconfirmed,
                                  .pairs = c->out->pairs,
                                  .both = c->out->both,
                                  .strategy = c->strategy ? c->strategy : ""};
    c->host->progress(c->host->arg, &s);
}

static bool is_time_left(const struct campaign *c)
{
    return !c->failed && !c->stop && dh_now_ns() < c->until_ns;
}

static void pursue(struct campaign *c, struct aim *a)
{
    a->began_ns = dh_now_ns();
    for (;;) {
        if (c->host->interrupted(c->host->arg))
            c->stop = c->out->interrupted = true;
        if (is_time_left(c) && dh_now_ns() - a->began_ns < a->budget_ns)
            start_searches(c, a);
        if (!c->running)
            break;
        for (unsigned i = 0; i < c->o->jobs; i++)
            if (c->slots[i].control)
                look_after(c, &c->slots[i]);
        tell_progress(c);
        nanosleep(&(struct timespec){0, 500000}, NULL);
    }
}

/* ---- goals ---- */

static const struct {
    const char *kind;
    uint32_t ends;
} searched[] = {
    {"race", 1u << DH_ENGINE_RACE | 1u << DH_ENGINE_FREED},
    {"deadlock", 1u << DH_ENGINE_DEADLOCK},
    {"lost-wakeup", 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_DEADLOCK},
    {"indefinite-wait", 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_DEADLOCK | 1u << DH_ENGINE_HANG},
    {"critical-wait", 1u << DH_ENGINE_LOST_WAKE | 1u << DH_ENGINE_DEADLOCK},
    {"use-after-free", 1u << DH_ENGINE_FREED | 1u << DH_ENGINE_RACE},
    {"assertion", 1u << DH_ENGINE_ASSERTION},
    {"crash", 1u << DH_ENGINE_CRASH},
    {"atomicity", 1u << DH_ENGINE_ATOMICITY},
};

static uint32_t ends_of(const char *kind)
{
    for (size_t i = 0; i < sizeof searched / sizeof *searched; i++)
        if (strcmp(searched[i].kind, kind) == 0)
            return searched[i].ends;
    return 0;
}

static bool skip(struct dh_goal *g, const char *why)
{
    g->verdict = DH_SKIPPED;
    free(g->why);
    g->why = dh_strdup(why);
    return false;
}

/* Of an update that races with itself: the read of one thread and the write of another are the nearest to be had. */
static uint32_t reading_half(struct campaign *c, const char *site, uint32_t writing)
{
    uint8_t *marked = calloc(c->s->start.places + 1, 1);
    uint32_t place = writing, any;
    if (!marked)
        abort();
    dh_place_names_mark(c->s->places, site, marked, &any);
    for (uint32_t i = 0; i < c->s->start.places; i++)
        if (marked[i] && i != writing)
            place = i;
    free(marked);
    return place;
}

static bool mark_side(struct campaign *c, const char *site, uint8_t side, struct aim *a, uint32_t *one)
{
    uint8_t *marked = calloc(c->s->start.places + 1, 1);
    if (!marked)
        abort();
    unsigned n = dh_place_names_mark(c->s->places, site, marked, one);
    for (uint32_t i = 0; i < c->s->start.places; i++)
        if (marked[i]) {
            a->visible[i] |= DH_ENGINE_VISIBLE;
            a->sides[i] |= side;
        }
    free(marked);
    return n;
}

/* The places that a finding names become visible. */
static bool aim_at(struct campaign *c, struct dh_goal *g, struct aim *a)
{
    const struct dh_finding *f = g->finding;
    uint32_t place = 0;
    a->goal = g;
    a->look_for = ends_of(f->kind);
    a->phases = pair_phases;
    a->n_phases = sizeof pair_phases / sizeof *pair_phases;
    if (!a->look_for)
        return skip(g, "no schedule shows a finding of this kind");
    unsigned found = 0;
    for (size_t i = 0; i < f->accesses.n; i++) {
        if (!mark_side(c, f->accesses.at[i].site, found ? 2 : 1, a, &place))
            continue;
        if (found < 2)
            a->place[found] = place;
        if (found == 1 && a->place[0] == place)
            a->place[1] = reading_half(c, f->accesses.at[i].site, place);
        found++;
    }
    a->is_pair = found >= 2 && (a->look_for & 1u << DH_ENGINE_RACE);
    if (strcmp(f->kind, "race") == 0 && found < 2)
        return skip(g, "its places are not in this build");
    return true;
}

static char *bounds_of(const struct campaign *c, const struct aim *a)
{
    struct dh_str s = {0};
    unsigned visible = 0;
    for (uint32_t i = 0; i < c->s->start.places; i++)
        visible += a->visible[i] != 0;
    dh_str_addf(&s, "%llu schedules of synchronisation, atomics and %u place%s", (unsigned long long)a->schedules,
                visible, visible == 1 ? "" : "s");
    if (c->o->preemptions != UINT32_MAX)
        dh_str_addf(&s, ", at most %u preemptions", c->o->preemptions);
    if (c->o->shards > 1 && !c->n_goals)
        dh_str_addf(&s, ", part %u of %u", c->o->shard + 1, c->o->shards);
    if (a->tried_all)
        dh_str_add(&s, ", all orders that differ, with this input");
    return dh_str_take(&s);
}

static enum dh_verdict verdict_of(const struct aim *a)
{
    if (!a->tried_all)
        return DH_SPENT;
    return a->bounded || a->goal || !a->checked_all ? DH_REFUTED : DH_EXHAUSTED;
}

/* ---- beginnings from the program's own schedules (§3) ---- */

enum { TRACES = 3, PREFIXES = 12, TRACE_DEPTH = 200000, FIRST_DEPTH = 20000 };

/* One schedule as it ended; the first without preemption, as a machine that is not busy would go. Owned by the caller,
 * or NULL. */
static struct dh_engine_found *trace_of(struct campaign *c, const struct aim *a, unsigned number)
{
    uint64_t now = dh_now_ns(), time_ns = a->budget_ns, left = c->until_ns > now ? c->until_ns - now : 0;
    struct phase p = {number ? "random" : "bounded", DH_ENGINE_NO_ORDER, 0, 0};
    struct dh_work w = {.job = job_of(c, a, &p, time_ns < left ? time_ns : left),
                        .visible = a->visible,
                        .found_bytes = TRACE_DEPTH * sizeof(struct dh_engine_decision) + (1u << 20),
                        .output = DH_OUTPUT_NOWHERE};
    struct dh_engine_found *found = NULL;
    const struct dh_engine_found *f;
    w.job.schedules_max = 1;
    w.job.depth_max =
        number ? TRACE_DEPTH : FIRST_DEPTH; /* who waits for others by spinning gets nowhere without them */
    w.job.look_for = 1u << DH_ENGINE_DONE | 1u << DH_ENGINE_CUT;
    w.job.preemptions_max = number ? UINT32_MAX : 0;
    struct dh_control *control = dh_control_start(&c->s->start, &w, c->err);
    if (!control) {
        c->failed = true;
        return NULL;
    }
    dh_control_wait(control, w.job.time_max_ns + OVERTIME);
    struct dh_engine_control *region = dh_control_region(control);
    if ((f = dh_engine_found_at(region, 0)))
        found = copy_of(f, region->found_size);
    c->out->no_threads = c->out->no_threads || region->progress.state == DH_ENGINE_NO_THREADS;
    c->out->schedules += region->progress.schedules;
    c->out->steps += region->progress.steps;
    dh_control_free(control);
    return found;
}

static void try_prefixes(struct campaign *c, struct aim *a, const struct dh_engine_found *trace)
{
    struct dh_beginning prefixes[PREFIXES];
    struct dh_beginnings_of from = {.decisions = trace->decisions,
                                    .n = trace->n_decisions,
                                    .wanted = a->sides,
                                    .places = c->s->start.places,
                                    .bytes_of = dh_subject_bytes,
                                    .arg = c->s};
    size_t n = dh_beginnings(&from, prefixes, PREFIXES);
    for (unsigned reaching = 2; reaching-- > 0;) /* those that need no search first */
        for (size_t i = 0; i < n && !a->over && is_time_left(c); i++)
            if (prefixes[i].reaches == (bool)reaching) {
                a->prefix = &prefixes[i];
                a->next = 0;
                c->out->prefixes++;
                pursue(c, a);
            }
    a->prefix = NULL;
    dh_beginnings_release(prefixes, n);
}

static void pursue_by_prefix(struct campaign *c, struct aim *a)
{
    const struct aim after = *a;
    a->phases = prefix_phases;
    a->n_phases = 1;
    a->budget_ns /= 10;
    for (unsigned i = 0; i < TRACES && !a->over && is_time_left(c) && !c->out->no_threads; i++) {
        struct dh_engine_found *trace = trace_of(c, a, i);
        c->out->traces += trace != NULL;
        if (trace)
            try_prefixes(c, a, trace);
        free(trace);
    }
    a->phases = after.phases;
    a->n_phases = after.n_phases;
    a->next = 0;
    a->budget_ns = after.budget_ns;
}

static uint8_t *first_visible(const struct campaign *c)
{
    uint8_t *visible = calloc(c->s->start.places + 1, 1);
    if (!visible)
        abort();
    if (c->o->marks)
        memcpy(visible, c->o->marks, c->s->start.places);
    return visible;
}

static void pursue_goal(struct campaign *c, struct dh_goal *g, uint64_t budget_ns)
{
    struct aim a = {.visible = first_visible(c), .sides = calloc(c->s->start.places + 1, 1), .budget_ns = budget_ns};
    if (!a.sides)
        abort();
    if (g->verdict == DH_OPEN && aim_at(c, g, &a)) {
        if (a.is_pair && !c->o->no_prefix && !c->o->strategy)
            pursue_by_prefix(c, &a);
        if (!a.over)
            pursue(c, &a);
        if (g->verdict == DH_OPEN) {
            g->verdict = verdict_of(&a);
            free(g->why);
            g->why = bounds_of(c, &a);
        }
        g->schedules = a.schedules;
    }
    free(a.sides);
    free(a.visible);
}

static void pursue_all(struct campaign *c)
{
    struct aim a = {.visible = first_visible(c),
                    .budget_ns = c->until_ns - c->began_ns,
                    .phases = all_phases,
                    .n_phases = sizeof all_phases / sizeof *all_phases};
    pursue(c, &a);
    c->out->verdict = verdict_of(&a);
    c->out->bounds = bounds_of(c, &a);
    free(a.visible);
}

/* What the time left gives each of those that are left. */
static void pursue_goals(struct campaign *c)
{
    size_t left = 0;
    for (size_t i = 0; i < c->n_goals; i++) {
        if (i % c->o->shards != c->o->shard)
            skip(&c->goals[i], "another shard's");
        left += c->goals[i].verdict == DH_OPEN;
    }
    for (size_t i = 0; i < c->n_goals && is_time_left(c); i++)
        if (c->goals[i].verdict == DH_OPEN) {
            pursue_goal(c, &c->goals[i], (c->until_ns - dh_now_ns()) / left);
            left--;
        }
}

bool dh_campaign(struct dh_subject *s, const struct dh_campaign_options *o, struct dh_goal *goals, size_t n,
                 const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err)
{
    struct campaign c = {.s = s, .o = o, .goals = goals, .n_goals = n, .host = host, .out = out, .err = err};
    *out = (struct dh_campaign_result){.verdict = DH_OPEN};
    c.slots = calloc(o->jobs, sizeof *c.slots);
    if (!c.slots)
        abort();
    c.began_ns = dh_now_ns();
    c.until_ns = c.began_ns + o->budget_ns;
    if (n)
        pursue_goals(&c);
    else
        pursue_all(&c);
    for (unsigned i = 0; i < o->jobs; i++)
        if (c.slots[i].control)
            end_search(&c, &c.slots[i]);
    tell_unordered(&c);
    out->elapsed_ns = dh_now_ns() - c.began_ns;
    out->threads = c.threads;
    free(c.slots);
    dh_vec_release(&c.known);
    return !c.failed;
}

void dh_campaign_result_release(struct dh_campaign_result *r)
{
    free(r->cannot);
    free(r->bounds);
    *r = (struct dh_campaign_result){0};
}
