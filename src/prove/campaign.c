#include "prove/campaign.h"

#include "base/alloc.h"
#include "base/str.h"
#include "prove/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

/* Without goals: first synchronisation, atomics and accesses found to be unordered, then every access. Small programs
 * are exhausted early. */
static const struct phase all_phases[] = {
    {"random", DH_ENGINE_EXTEND, 3, 0},    {"pct", DH_ENGINE_EXTEND, 3, 0},
    {"dpor", DH_ENGINE_EXTEND, 34, 0},     {"pos", DH_ENGINE_EXTEND, 15, 0},
    {"pct", DH_ENGINE_EXTEND, 15, 0},      {"random", DH_ENGINE_ALL_VISIBLE, 10, 0},
    {"pct", DH_ENGINE_ALL_VISIBLE, 10, 0}, {"pos", DH_ENGINE_ALL_VISIBLE, 10, 0},
};

/* For wrong results: races on the way are not looked for. */
enum { TO_THE_END = DH_ENGINE_NO_RACES | DH_ENGINE_NO_ORDER };
static const struct phase judged_phases[] = {{"random", TO_THE_END, 15, 0},
                                             {"pct", TO_THE_END, 35, 0},
                                             {"pos", TO_THE_END, 25, 0},
                                             {"random", TO_THE_END | DH_ENGINE_ALL_VISIBLE, 25, 0}};

/* With a memory model: also races that only stale values lead to. */
static const struct phase weak_phases[] = {
    {"random", DH_ENGINE_EXTEND, 40, 0}, {"pos", DH_ENGINE_EXTEND, 30, 0}, {"pct", DH_ENGINE_EXTEND, 30, 0}};
static const uint32_t weak_ends = 1u << DH_ENGINE_RACE | 1u << DH_ENGINE_ASSERTION | 1u << DH_ENGINE_CRASH |
                                  1u << DH_ENGINE_FREED | 1u << DH_ENGINE_WRONG;

const char *dh_goal_status_words(enum dh_goal_status v)
{
    static const char *const words[] = {
        [DH_GOAL_OPEN] = "budget spent before it was looked for",
        [DH_GOAL_PROVEN] = "proven",
        [DH_GOAL_REFUTED] = "refuted within bounds",
        [DH_GOAL_EXHAUSTED] = "exhausted",
        [DH_GOAL_SPENT] = "budget spent",
        [DH_GOAL_SKIPPED] = "not looked for",
    };
    return words[v];
}

static char *bounds_of(const struct campaign *c, const struct goal_search *a)
{
    struct dh_str s = {0};
    unsigned visible = 0;
    for (uint32_t i = 0; i < c->terms.s->start.places; i++)
        visible += a->visible[i] != 0;
    dh_str_addf(&s, "%llu schedules of synchronisation, atomics and %u place%s", (unsigned long long)a->schedules,
                visible, visible == 1 ? "" : "s");
    if (c->terms.o->preemptions != UINT32_MAX)
        dh_str_addf(&s, ", at most %u preemptions", c->terms.o->preemptions);
    if (c->terms.o->shards > 1 && !c->terms.n_goals)
        dh_str_addf(&s, ", part %u of %u", c->terms.o->shard + 1, c->terms.o->shards);
    if (a->tried_all)
        dh_str_add(&s, ", all orders that differ, with this input");
    return dh_str_take(&s);
}

static enum dh_goal_status verdict_of(const struct goal_search *a)
{
    if (!a->tried_all)
        return DH_GOAL_SPENT;
    return a->bounded || a->goal || !a->checked_all ? DH_GOAL_REFUTED : DH_GOAL_EXHAUSTED;
}

static dh_engine_marks *first_visible(const struct campaign *c)
{
    dh_engine_marks *visible = dh_xcalloc(c->terms.s->start.places + 1, sizeof *visible);
    if (c->terms.o->marks)
        memcpy(visible, c->terms.o->marks, c->terms.s->start.places * sizeof *visible);
    return visible;
}

static void pursue_goal(struct campaign *c, struct dh_goal *g, uint64_t budget_ns)
{
    struct goal_search a = {
        .visible = first_visible(c), .sides = dh_xcalloc(c->terms.s->start.places + 1, 1), .budget_ns = budget_ns};
    if (g->verdict == DH_GOAL_OPEN && dh_campaign_set_up_goal(c, g, &a)) {
        if (a.is_pair && !c->terms.o->no_prefix && !c->terms.o->strategy)
            dh_campaign_search_prefixes(c, &a);
        if (!a.over)
            dh_campaign_pursue(c, &a);
        if (g->verdict == DH_GOAL_OPEN) {
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
    struct goal_search a = {.visible = first_visible(c),
                            .budget_ns = c->until_ns - c->began_ns,
                            .phases = all_phases,
                            .n_phases = sizeof all_phases / sizeof *all_phases};
    if (c->terms.o->judged && c->terms.o->judged->model[0]) {
        a.phases = weak_phases;
        a.n_phases = sizeof weak_phases / sizeof *weak_phases;
        a.look_for = weak_ends;
    } else if (c->terms.o->judged) {
        a.phases = judged_phases;
        a.n_phases = sizeof judged_phases / sizeof *judged_phases;
        a.look_for = 1u << DH_ENGINE_WRONG;
    }
    dh_campaign_pursue(c, &a);
    c->terms.out->verdict = verdict_of(&a);
    c->terms.out->bounds = bounds_of(c, &a);
    free(a.visible);
}

/* Each open goal gets its share of the time that is left. */
static void pursue_goals(struct campaign *c)
{
    size_t left = 0;
    for (size_t i = 0; i < c->terms.n_goals; i++) {
        if (i % c->terms.o->shards != c->terms.o->shard)
            dh_campaign_skip(&c->terms.goals[i], "another shard's");
        left += c->terms.goals[i].verdict == DH_GOAL_OPEN;
    }
    for (size_t i = 0; i < c->terms.n_goals && dh_campaign_time_left(c); i++)
        if (c->terms.goals[i].verdict == DH_GOAL_OPEN) {
            pursue_goal(c, &c->terms.goals[i], (c->until_ns - dh_now_ns()) / left);
            left--;
        }
}

bool dh_campaign(struct dh_subject *s, const struct dh_campaign_options *o, struct dh_goal *goals, size_t n,
                 const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err)
{
    struct campaign c = {.terms = {s, o, goals, n, host, out}, .err = err};
    *out = (struct dh_campaign_result){.verdict = DH_GOAL_OPEN};
    c.slots = dh_xcalloc(o->jobs, sizeof *c.slots);
    c.began_ns = dh_now_ns();
    c.until_ns = c.began_ns + o->budget_ns;
    if (n)
        pursue_goals(&c);
    else
        pursue_all(&c);
    for (unsigned i = 0; i < o->jobs; i++)
        if (c.slots[i].control)
            dh_campaign_end_search(&c, &c.slots[i]);
    dh_campaign_report_unordered(&c);
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
    free(r->unseen);
    *r = (struct dh_campaign_result){0};
}

void dh_campaign_summary(struct dh_str *out, const struct dh_campaign_result *r, const struct dh_campaign_options *o,
                         size_t goals)
{
    double seconds = (double)r->elapsed_ns / 1e9;
    dh_str_addf(out, "%u proven; %llu schedules in %.2f s (%.0f/s), %u threads", r->proven,
                (unsigned long long)r->schedules, seconds, seconds > 0 ? (double)r->schedules / seconds : 0,
                r->threads);
    if (r->pairs)
        dh_str_addf(out, ", %llu of %llu pairs of places in both orders", (unsigned long long)r->both,
                    (unsigned long long)r->pairs);
    if (r->traces)
        dh_str_addf(out, "; %u beginning%s from %u trace%s", r->prefixes, r->prefixes == 1 ? "" : "s", r->traces,
                    r->traces == 1 ? "" : "s");
    if (r->unconfirmed)
        dh_str_addf(out, "; %u found that did not replay with kernel threads, not called proven", r->unconfirmed);
    if (r->unseen)
        dh_str_addf(out, "; accesses in %s were not seen: it is another file in every run", r->unseen);
    if (r->interrupted)
        dh_str_add(out, "; interrupted");
    else if (!goals && !(o->first && r->proven))
        dh_str_addf(out, "; %s%s: %s", r->proven ? "the rest: " : "", dh_goal_status_words(r->verdict),
                    r->bounds ? r->bounds : "");
}
