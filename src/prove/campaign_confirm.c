/* From an end that was found to a proof: minimise the schedule and replay it with kernel threads. */
#include "base/alloc.h"
#include "base/str.h"
#include "prove/campaign_internal.h"
#include "prove/end_finding.h"
#include "prove/minimise.h"
#include "prove/nowhere.h"

#include <stdlib.h>
#include <string.h>

enum { SWITCHES_FINE = 8 }; /* of a witness with more, a shorter one is searched for */
#define SHORTEN_NS (150 * MS)
#define PATIENCE (60000 * MS) /* of a replay */

/* ---- replaying ---- */

/* Why it did not lead there, for the user; owned by the caller. */
static char *explain(const struct campaign *c, const struct dh_replayed *r)
{
    const struct dh_site_table *t;
    const struct dh_engine_party *p = &r->diverged;
    const struct dh_site *site = dh_place_names_site(c->terms.s->places, p->place, &t);
    bool strayed = r->state == DH_ENGINE_DIVERGED && r->diverged_at != UINT32_MAX && p->kind;
    struct dh_str s = {0};
    dh_replayed_explain(&s, r);
    if (strayed && site && site->line && !dh_is_nowhere(p->place, p->kind, site))
        dh_str_addf(&s, ", with T%u at %s:%u", p->thread, dh_basename(dh_site_string(t, site->file)), site->line);
    return dh_str_take(&s);
}

/* The end to which the schedule leads with kernel threads, if it is the same, or an equivalent one by other threads;
 * owned by the caller; NULL: it is another. The schedule is cut after it and gets the values of its accesses, which its
 * caller frees. */
static struct dh_engine_found *replay(struct campaign *c, struct dh_schedule *s, const struct dh_engine_found *end,
                                      unsigned perturbed)
{
    struct dh_subject_start start = c->terms.s->start;
    struct dh_replayed r;
    struct dh_err ignored = {0};
    const struct dh_engine_found *again = NULL;
    unsigned how = c->terms.o->judged && end->kind != DH_ENGINE_RACE ? DH_REPLAY_NO_RACES : 0;
    start.perturbed = perturbed;
    if (dh_replay(&start, s, how, PATIENCE, &r, &ignored))
        again = dh_replayed_find_equivalent(&r, end);
    if (again && again->n_decisions < s->n)
        s->n = again->n_decisions;
    if (again) {
        free((void *)s->values);
        s->values = dh_replay_values(again, s->n);
    }
    if (!again && !c->terms.out->strayed)
        c->terms.out->strayed = explain(c, &r);
    struct dh_engine_found *copy = again ? dh_found_end_copy(again, again->size) : NULL;
    dh_replayed_release(&r);
    dh_err_release(&ignored);
    return copy;
}

static struct dh_goal *goal_of(struct campaign *c, const char *id)
{
    for (size_t i = 0; i < c->terms.n_goals; i++)
        if (strcmp(c->terms.goals[i].finding->id, id) == 0)
            return &c->terms.goals[i];
    return NULL;
}

static const char *prefix_strategy(const struct dh_witness_prefix *p, const struct dh_engine_found *end)
{
    return end->n_decisions <= p->n ? "prefix" : "prefix and search";
}

static bool report_proof(struct campaign *c, const struct search_process *from, const struct dh_schedule *s,
                         const struct dh_engine_found *end, const struct dh_engine_found *found,
                         const struct dh_finding *f)
{
    struct dh_goal *goal = goal_of(c, f->id);
    struct dh_witness w;
    dh_subject_make_witness(c->terms.s, s, end, f->id, &w);
    bool same_build = goal && strcmp(goal->finding->build, f->build) == 0;
    struct dh_proof p = {.finding = same_build ? goal->finding : f,
                         .is_new = !goal,
                         .witness = &w,
                         .schedule = s,
                         .end = end,
                         .schedules = found->schedule,
                         .time_ns = dh_now_ns() - c->began_ns,
                         .strategy = from->goal_search->prefix ? prefix_strategy(from->goal_search->prefix, found)
                                                               : from->phase->strategy,
                         .steps_before = found->n_decisions,
                         .switches_before = dh_schedule_switches(found->decisions, found->n_decisions),
                         .switches = dh_schedule_switches(s->decisions, s->n)};
    bool ok = c->terms.host->proven(c->terms.host->arg, &p);
    dh_witness_release(&w);
    if (goal)
        goal->verdict = DH_GOAL_PROVEN;
    c->terms.out->by_prefix += from->goal_search->prefix && found->n_decisions <= from->goal_search->prefix->n;
    c->terms.out->proven++;
    c->failed = c->failed || !ok;
    return ok;
}

/* Places that were visible in the schedule of that end. Owned by the caller. */
static dh_engine_marks *visible_for(const struct campaign *c, const struct search_process *from,
                                    const struct dh_engine_found *end)
{
    const struct dh_engine_progress *p = &dh_engine_process_region(from->control)->progress;
    dh_engine_marks *visible = dh_xmalloc((c->terms.s->start.places + 1) * sizeof *visible);
    memcpy(visible, from->visible, c->terms.s->start.places * sizeof *visible);
    for (uint32_t i = 0; i < end->visible_added && i < DH_ENGINE_ADDED; i++)
        if (p->added[i] < c->terms.s->start.places)
            visible[p->added[i]] |= DH_ENGINE_VISIBLE;
    for (uint32_t i = 0; i < end->spared && i < DH_ENGINE_SPARED; i++)
        if (p->spared[i] < c->terms.s->start.places)
            visible[p->spared[i]] = 0;
    return visible;
}

struct dh_schedule dh_campaign_schedule_of(const struct campaign *c, const struct search_process *from,
                                           const struct dh_engine_found *end)
{
    const struct dh_engine_progress *p = &dh_engine_process_region(from->control)->progress;
    struct dh_schedule s = {.decisions = end->decisions,
                            .n = end->n_decisions,
                            .visible = visible_for(c, from, end),
                            .flags = from->phase->flags | (c->terms.o->spurious ? DH_ENGINE_SPURIOUS : 0u) |
                                     (p->hides ? DH_ENGINE_ONLY_VISIBLE : 0u) |
                                     (p->watchdogs ? DH_ENGINE_WATCHDOGS : 0u)};
    if (c->terms.o->judged)
        s.adversary = *c->terms.o->judged;
    return s;
}

/* ---- shortening ---- */

/* A schedule that may become a witness: the end that was found, and its minimised decisions. */
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
    struct draft d = {.end = dh_found_end_copy(end, end->size),
                      .decisions = dh_xcalloc(end->n_decisions + 1, sizeof *d.decisions)};
    d.schedule = *like;
    d.schedule.decisions = d.decisions;
    if (c->terms.o->as_found) {
        d.schedule.n = end->n_decisions;
        memcpy(d.decisions, end->decisions, end->n_decisions * sizeof *d.decisions);
    } else
        d.schedule.n = dh_schedule_minimise(end->decisions, end->n_decisions, end, dh_subject_access_size, c->terms.s,
                                            d.decisions);
    return d;
}

static uint32_t switches_of(const struct draft *d)
{
    return dh_schedule_switches(d->schedule.decisions, d->schedule.n);
}

/* Searches for schedules to the same end with fewer switches; takes the last one found. */
static bool shorten(struct campaign *c, const struct draft *from, struct draft *out)
{
    const struct dh_engine_found *end = from->end, *f;
    struct phase p = {"shorten",
                      (from->schedule.flags & (DH_ENGINE_ALL_VISIBLE | DH_ENGINE_ONLY_VISIBLE | DH_ENGINE_WATCHDOGS)) |
                          DH_ENGINE_NO_ORDER,
                      0,
                      0,
                      0,
                      false};
    struct goal_search a = {.look_for = 1u << end->kind};
    struct dh_engine_request w = {.job = dh_campaign_job(c, &a, &p, SHORTEN_NS),
                                  .visible = from->schedule.visible,
                                  .prefix = from->schedule.decisions,
                                  .prefix_length = from->schedule.n,
                                  .found_bytes = sizeof *f + (2 * from->schedule.n + 1024) * sizeof *f->decisions,
                                  .output = DH_OUTPUT_DISCARDED};
    w.adversary = from->schedule.adversary;
    w.job.flags = (w.job.flags & ~(uint32_t)DH_ENGINE_COVERAGE) | DH_ENGINE_ONLY_TARGET;
    w.job.target_signature = dh_engine_signature(end->kind, end->parties, end->n_parties, end->text);
    if (end->kind == DH_ENGINE_RACE)
        for (unsigned i = 0; i < 2; i++)
            w.job.target_place[i] = end->parties[i].place;
    struct dh_engine_process *control = dh_engine_process_start(&c->terms.s->start, &w, c->err);
    if (!control) {
        c->failed = true;
        return false;
    }
    dh_engine_process_wait(control, w.job.time_max_ns + OVERTIME);
    struct dh_engine_control *region = dh_engine_process_region(control);
    struct dh_engine_found *found =
        (f = dh_engine_found_at(region, 0)) ? dh_found_end_copy(f, region->found_size) : NULL;
    dh_engine_process_free(control);
    if (found)
        *out = draft_of(c, found, &from->schedule);
    free(found);
    return out->end && switches_of(out) < switches_of(from);
}

/* Does the schedule lead to the finding with kernel threads, every time, whatever lies in memory that nobody wrote?
 * Then it is reported. */
static bool confirms(struct campaign *c, struct search_process *from, struct dh_schedule *s,
                     const struct dh_engine_found *end, const struct dh_engine_found *found, const char *id)
{
    bool same = true;
    for (unsigned left = DH_REPLAYS_TO_CONFIRM; left-- && same;) {
        struct dh_finding f;
        struct dh_engine_found *again = replay(c, s, end, left);
        if (!again)
            return false;
        dh_end_finding(&c->terms.s->end_context, again, &f);
        same = strcmp(f.id, id) == 0;
        if (same && !left)
            report_proof(c, from, s, again, found, &f);
        dh_finding_release(&f);
        free(again);
    }
    return same;
}

/* Tries the shortest schedule first: shortened, minimised, as it was found. */
bool dh_campaign_confirm(struct campaign *c, struct search_process *from, const struct dh_engine_found *end,
                         const struct dh_finding *f)
{
    struct dh_schedule whole = dh_campaign_schedule_of(c, from, end);
    bool strayed_before = c->terms.out->strayed;
    struct draft d = draft_of(c, end, &whole), shorter = {0};
    bool is_long = !c->terms.o->as_found && switches_of(&d) > SWITCHES_FINE;
    bool ok = (is_long && shorten(c, &d, &shorter) && confirms(c, from, &shorter.schedule, shorter.end, end, f->id)) ||
              confirms(c, from, &d.schedule, end, end, f->id) ||
              (!c->terms.o->as_found && confirms(c, from, &whole, end, end, f->id));
    if (ok && !strayed_before) {
        free(c->terms.out->strayed);
        c->terms.out->strayed = NULL;
    }
    free((void *)whole.values);
    release_draft(&d);
    release_draft(&shorter);
    free((void *)whole.visible);
    return ok;
}
