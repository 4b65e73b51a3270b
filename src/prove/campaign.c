#include "prove/campaign.h"

#include "base/alloc.h"
#include "base/str.h"
#include "prove/campaign_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without goals: first synchronisation, atomics and accesses found to be unordered, then those that could be (active
 * testing of what hybrid detection suspects, as RaceFuzzer does it), then every access. Small programs are exhausted
 * early. */
enum { SUSPECTS = DH_ENGINE_EXTEND | DH_ENGINE_UNPROTECTED };
static const struct phase all_phases[] = {
    {"random", DH_ENGINE_EXTEND, 4, 0, DH_ENGINE_BEFORE_LAST, false},
    {"pct", DH_ENGINE_EXTEND, 8, 0, DH_ENGINE_BEFORE_FIRST, true},
    {"active", SUSPECTS, 10, 0, DH_ENGINE_BEFORE_FIRST, false},
    {"dpor", DH_ENGINE_EXTEND, 28, 0, DH_ENGINE_BEFORE_LAST, false},
    {"pos", DH_ENGINE_EXTEND, 10, 0, DH_ENGINE_IN_BETWEEN, false},
    {"pct", DH_ENGINE_EXTEND, 10, 0, DH_ENGINE_IN_BETWEEN, false},
    {"active", SUSPECTS, 6, 0, DH_ENGINE_IN_BETWEEN, false},
    {"random", DH_ENGINE_ALL_VISIBLE, 8, 0, DH_ENGINE_BEFORE_LAST, false},
    {"pct", DH_ENGINE_ALL_VISIBLE, 8, 0, DH_ENGINE_IN_BETWEEN, false},
    {"pos", DH_ENGINE_ALL_VISIBLE, 8, 0, DH_ENGINE_BEFORE_LAST, false},
};

/* For wrong results: races on the way are not looked for. */
enum { TO_THE_END = DH_ENGINE_NO_RACES | DH_ENGINE_NO_ORDER };
static const struct phase judged_phases[] = {{"random", TO_THE_END, 15, 0, 0, false},
                                             {"pct", TO_THE_END, 35, 0, 0, false},
                                             {"pos", TO_THE_END, 25, 0, 0, false},
                                             {"random", TO_THE_END | DH_ENGINE_ALL_VISIBLE, 25, 0, 0, false}};

/* With a memory model: also races that only stale values lead to. */
static const struct phase weak_phases[] = {{"random", DH_ENGINE_EXTEND, 40, 0, 0, false},
                                           {"pos", DH_ENGINE_EXTEND, 30, 0, 0, false},
                                           {"pct", DH_ENGINE_EXTEND, 30, 0, 0, false}};
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
        [DH_GOAL_UNCOVERED] = "not shown, but not all was covered",
        [DH_GOAL_SKIPPED] = "not looked for",
        [DH_GOAL_COUNTED] = "counted",
    };
    return words[v];
}

/* ---- what a search without a proof shows ---- */

/* Ends that were found, of which no schedule replayed. */
static unsigned count_unreplayed(const struct campaign *c)
{
    unsigned n = 0;
    for (size_t i = 0; i < c->known.n; i++)
        n += c->known.at[i].tries && !c->known.at[i].proven;
    return n;
}

static void add_gap(struct dh_str *out, const char *words)
{
    dh_str_addf(out, "%s%s", out->n ? "; " : "", words);
}

/* Of what a systematic search came to. */
static void add_uncovered(struct dh_str *out, uint32_t gaps)
{
    static const struct {
        enum dh_engine_gap gap;
        const char *words;
    } known[] = {
        {DH_GAP_PLACES, "unordered accesses that are no steps"},
        {DH_GAP_MAPPINGS, "mapping calls of more than 16 KB, of which the rest conflicts with nothing"},
        {DH_GAP_CHILDREN, "a child that has ended was missed by WNOHANG three times and could be more often"},
        {DH_GAP_LIBRARY, "threads meet inside a library that is not instrumented (pools and loops of GLib)"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gaps & known[i].gap)
            add_gap(out, known[i].words);
}

/* What an exhausted search did not cover, "" if it covered all. Owned by the caller. */
static char *gaps_of(const struct campaign *c, const struct goal_search *a)
{
    struct dh_str s = {0};
    char words[80];
    unsigned unreplayed = count_unreplayed(c);
    dh_str_add(&s, "");
    if (c->terms.o->doubt)
        add_gap(&s, "the program's own run is another one");
    if (c->terms.out->cannot || c->terms.out->left_out)
        add_gap(&s, c->terms.out->cannot ? c->terms.out->cannot : c->terms.out->left_out);
    if (a->cut) {
        snprintf(words, sizeof words, "%llu schedules were cut", (unsigned long long)a->cut);
        add_gap(&s, words);
    }
    if (unreplayed) {
        snprintf(words, sizeof words, "%u end%s that did not replay", unreplayed, unreplayed == 1 ? "" : "s");
        add_gap(&s, words);
    }
    if (a->places_missing)
        add_gap(&s, "accesses of it are no steps");
    if (a->tried_all && a->goal && a->goal->finding->level == DH_LEVEL_OBSERVED &&
        a->goal->finding->kind == DH_FINDING_RACE)
        add_gap(&s, "a run showed it, which took an order that these steps do not have");
    if (!a->tried_all)
        add_uncovered(&s, a->gaps);
    return dh_str_take(&s);
}

static unsigned count_visible(const struct campaign *c, const struct goal_search *a)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < c->terms.s->start.places; i++)
        n += a->visible[i] != 0;
    return n;
}

static char *bounds_of(const struct campaign *c, const struct goal_search *a)
{
    struct dh_str s = {0};
    char *gaps = gaps_of(c, a);
    unsigned visible = a->tried_all ? a->tried_places : count_visible(c, a);
    dh_str_addf(&s, "%llu schedules of synchronisation, atomics and %u place%s",
                (unsigned long long)(a->tried_all ? a->tried : a->schedules), visible, visible == 1 ? "" : "s");
    if (c->terms.o->preemptions != UINT32_MAX)
        dh_str_addf(&s, ", at most %u preemptions", c->terms.o->preemptions);
    if (c->terms.o->depth)
        dh_str_addf(&s, ", at most %u decisions", c->terms.o->depth);
    if (c->terms.o->shards > 1 && !c->terms.n_goals)
        dh_str_addf(&s, ", part %u of %u", c->terms.o->shard + 1, c->terms.o->shards);
    if (a->started_at)
        dh_str_addf(&s, ", of which at most some began before step %llu of an undisturbed run",
                    (unsigned long long)a->started_at);
    if (gaps[0])
        dh_str_addf(&s, ", without what was not covered: %s", gaps);
    else if (a->tried_all)
        dh_str_add(&s, ", all orders that differ, with this input");
    free(gaps);
    return dh_str_take(&s);
}

static enum dh_goal_status verdict_of(const struct campaign *c, const struct goal_search *a)
{
    if (!a->tried_all)
        return DH_GOAL_SPENT;
    char *gaps = gaps_of(c, a);
    bool covered = !gaps[0];
    free(gaps);
    if (!covered)
        return DH_GOAL_UNCOVERED;
    return a->bounded || a->goal || !a->checked_all ? DH_GOAL_REFUTED : DH_GOAL_EXHAUSTED;
}

static dh_engine_marks *first_visible(const struct campaign *c)
{
    dh_engine_marks *visible = dh_xcalloc(c->terms.s->start.places + 1, sizeof *visible);
    if (c->terms.o->marks)
        memcpy(visible, c->terms.o->marks, c->terms.s->start.places * sizeof *visible);
    for (uint32_t i = 0; c->waited && i < c->terms.s->start.places; i++)
        visible[i] |= c->waited[i];
    return visible;
}

static bool set_up(struct campaign *c, struct dh_goal *g, struct goal_search *a)
{
    size_t n = c->terms.s->start.places + 1;
    a->visible = first_visible(c);
    a->sides = dh_xcalloc(n, 1);
    if (!dh_campaign_set_up_goal(c, g, a))
        return false;
    a->first = dh_xmemdup(a->visible, n * sizeof *a->visible);
    return true;
}

void dh_campaign_goal_search_release(struct goal_search *a)
{
    free(a->sides);
    free(a->visible);
    free(a->first);
    a->sides = NULL;
    a->visible = a->first = NULL;
}

void dh_campaign_pursue_goal(struct campaign *c, struct dh_goal *g, struct goal_search *a, uint64_t budget_ns)
{
    a->budget_ns = budget_ns;
    if (!a->visible && !set_up(c, g, a))
        return;
    if (a->is_pair && !a->prefixes_done && !c->terms.o->no_prefix && !c->terms.o->strategy)
        dh_campaign_search_prefixes(c, a);
    if (!a->over)
        dh_campaign_pursue_in_rounds(c, a);
    g->schedules = a->schedules;
    if (g->verdict == DH_GOAL_PROVEN)
        return;
    g->verdict = verdict_of(c, a);
    free(g->why);
    g->why = bounds_of(c, a);
}

static void pursue_all(struct campaign *c)
{
    struct goal_search a = {.visible = first_visible(c),
                            .first = first_visible(c),
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
    dh_campaign_pursue_in_rounds(c, &a);
    c->terms.out->verdict = verdict_of(c, &a);
    c->terms.out->bounds = bounds_of(c, &a);
    dh_campaign_goal_search_release(&a);
}

/* What is found last is still to be replayed before the deadline. */
static uint64_t time_to_search(uint64_t budget_ns)
{
    uint64_t left = dh_deadline_left(), most = left == UINT64_MAX ? left : left - left / 20;
    return budget_ns < most ? budget_ns : most;
}

bool dh_campaign(struct dh_subject *s, const struct dh_campaign_options *o, struct dh_goal *goals, size_t n,
                 const struct dh_campaign_host *host, struct dh_campaign_result *out, struct dh_err *err)
{
    struct campaign c = {.terms = {s, o, goals, n, host, out}, .err = err};
    *out = (struct dh_campaign_result){.verdict = DH_GOAL_OPEN};
    c.slots = dh_xcalloc(o->jobs, sizeof *c.slots);
    c.began_ns = dh_now_ns();
    c.until_ns = c.began_ns + time_to_search(o->budget_ns);
    if (n)
        dh_campaign_pursue_goals(&c);
    else
        pursue_all(&c);
    for (unsigned i = 0; i < o->jobs; i++)
        if (c.slots[i].control)
            dh_campaign_end_search(&c, &c.slots[i]);
    dh_campaign_report_unordered(&c);
    out->irrevocable = s->irrevocable;
    out->elapsed_ns = dh_now_ns() - c.began_ns;
    out->late = !out->schedules && !out->proven && dh_now_ns() >= c.until_ns;
    out->threads = c.threads;
    free(c.slots);
    free(c.waited);
    dh_vec_release(&c.known);
    return !c.failed;
}

void dh_campaign_result_release(struct dh_campaign_result *r)
{
    free(r->cannot);
    free(r->odd);
    free(r->strayed);
    free(r->left_out);
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
    if (r->irrevocable)
        dh_str_addf(out, "; each schedule in a fresh process, since %s cannot be undone", r->irrevocable);
    if (r->more)
        dh_str_addf(
            out,
            "; %u more pair%s of places in functions with a proven race on the same variable, or inside the same calls",
            r->more, r->more == 1 ? "" : "s");
    if (r->untold)
        dh_str_addf(out, "; %u found when there was no time left to replay, not called proven", r->untold);
    if (r->unconfirmed)
        dh_str_addf(out, "; %u found that did not replay with kernel threads, not called proven%s%s%s", r->unconfirmed,
                    r->strayed ? " (the first: " : "", r->strayed ? r->strayed : "", r->strayed ? ")" : "");
    if (r->unseen)
        dh_str_addf(out, "; accesses in %s were not seen: it is another file in every run", r->unseen);
    if (r->interrupted)
        dh_str_add(out, "; interrupted");
    else if (!goals && !(o->first && r->proven))
        dh_str_addf(out, "; %s%s: %s", r->proven ? "the rest: " : "", dh_goal_status_words(r->verdict),
                    r->bounds ? r->bounds : "");
}
