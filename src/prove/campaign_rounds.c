/* Whose turn it is: strategies of a goal, and goals, get a little time first and twice as much in each round, so that
 * what one of them finds at once does not wait for what another one searches in vain. A campaign that is bounded by
 * counts of schedules has one round, which is the same on a busy machine. */
#include "base/alloc.h"
#include "finding/group.h"
#include "prove/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    FIRST_SLICE = 16, /* parts of the time */
    FIRST_GOAL_SLICE = 8,
    IN_VAIN = 500, /* schedules of a round of the joint search that proved nothing: goals one by one do better */
};
#define LEAST_SLICE (500 * MS)
#define LEAST_GOAL_SLICE (150 * MS)

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t left_of(const struct campaign *c, uint64_t until_ns)
{
    uint64_t now = dh_now_ns(), end = until_ns < c->until_ns ? until_ns : c->until_ns;
    return end > now ? end - now : 0;
}

static bool has_one_round(const struct campaign *c)
{
    return c->terms.o->schedules || c->terms.o->strategy;
}

/* ---- strategies ---- */

static bool may_help(const struct goal_search *a)
{
    return !a->over && a->done != (1u << a->n_phases) - 1;
}

void dh_campaign_pursue_in_rounds(struct campaign *c, struct goal_search *a)
{
    uint64_t whole = a->budget_ns, until = dh_now_ns() + whole;
    uint64_t slice = has_one_round(c) ? whole : most(whole / FIRST_SLICE, LEAST_SLICE);
    bool in_vain;
    do {
        uint64_t left = left_of(c, until), schedules = a->schedules, proven = c->terms.out->proven;
        a->budget_ns = left < slice + slice / 2 ? left : slice; /* no scraps */
        a->next = 0;
        dh_campaign_pursue(c, a);
        slice *= 2;
        in_vain = a->is_joint && c->terms.out->proven == proven && a->schedules - schedules >= IN_VAIN;
    } while (!has_one_round(c) && !in_vain && may_help(a) && dh_campaign_time_left(c) &&
             left_of(c, until) > LEAST_SLICE / 5 && !c->terms.out->no_threads &&
             !(c->terms.out->cannot && !c->terms.out->schedules));
    a->budget_ns = whole;
}

/* ---- goals ---- */

/* A goal on the list of those that wait for their turn. */
struct turn {
    struct dh_goal *goal;
    struct goal_search search;
    uint64_t group;
    size_t at; /* in the list of goals */
    unsigned slices;
    bool is_observed, is_settled;
};

struct queue {
    struct turn *at;
    size_t n;
};

/* What was observed comes first. */
static int by_level(const void *a, const void *b)
{
    const struct turn *s = a, *t = b;
    if (s->is_observed != t->is_observed)
        return s->is_observed ? -1 : 1;
    return s->at < t->at ? -1 : 1;
}

static struct queue make_queue(struct campaign *c)
{
    struct queue q = {.at = dh_xcalloc(c->terms.n_goals, sizeof *q.at)};
    for (size_t i = 0; i < c->terms.n_goals; i++) {
        struct dh_goal *g = &c->terms.goals[i];
        if (i % c->terms.o->shards != c->terms.o->shard)
            dh_campaign_skip(g, "another shard's");
        if (g->verdict == DH_GOAL_OPEN)
            q.at[q.n++] = (struct turn){.goal = g,
                                        .at = i,
                                        .group = c->terms.o->by_itself ? 0 : dh_finding_group(g->finding),
                                        .is_observed = g->finding->level >= DH_LEVEL_OBSERVED};
    }
    qsort(q.at, q.n, sizeof *q.at, by_level);
    return q;
}

/* Goals of one group share a witness: the others are counted when one is proven. */
static struct turn *proven_of_group(const struct queue *q, const struct turn *t)
{
    for (size_t i = 0; t->group && i < q->n; i++)
        if (q->at[i].group == t->group && q->at[i].goal->verdict == DH_GOAL_PROVEN)
            return &q->at[i];
    return NULL;
}

static void settle(const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++) {
        struct turn *t = &q->at[i], *shown = t->is_settled ? NULL : proven_of_group(q, t);
        enum dh_goal_status v = t->goal->verdict;
        t->is_settled =
            t->is_settled || shown || v == DH_GOAL_PROVEN || v == DH_GOAL_SKIPPED || (t->slices && !t->search.is_open);
        if (!shown || shown == t)
            continue;
        t->goal->verdict = DH_GOAL_COUNTED;
        shown->goal->more++;
    }
}

/* The joint search may have proven another pair of the group, which is no goal. */
static void settle_shown(const struct campaign *c, const struct queue *q)
{
    for (size_t i = 0; i < q->n; i++)
        if (!q->at[i].is_settled && dh_campaign_is_group_proven(c, q->at[i].group)) {
            q->at[i].is_settled = true;
            q->at[i].goal->verdict = DH_GOAL_COUNTED;
        }
}

/* In a round one of each group has its turn: the one that had the fewest. */
static bool is_served_by_another(const struct queue *q, const struct turn *t, bool once)
{
    for (size_t i = 0; t->group && !once && i < q->n; i++) {
        const struct turn *o = &q->at[i];
        if (o != t && o->group == t->group && !o->is_settled &&
            (o->slices < t->slices || (o->slices == t->slices && o < t)))
            return true;
    }
    return false;
}

static void take_turn(struct campaign *c, struct turn *t, uint64_t slice_ns)
{
    t->slices++;
    dh_campaign_pursue_goal(c, t->goal, &t->search, slice_ns);
    t->search.is_open =
        t->goal->verdict == DH_GOAL_SPENT && t->search.n_phases && t->search.done != (1u << t->search.n_phases) - 1;
    dh_campaign_goal_search_release(&t->search); /* tables of all goals at once would be large */
}

static size_t count_waiting(const struct queue *q, bool observed_only)
{
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++)
        n += !q->at[i].is_settled && (q->at[i].is_observed || !observed_only);
    return n;
}

/* `slice_ns` 0: each gets its share of what is left. */
static void serve_round(struct campaign *c, struct queue *q, bool observed_only, uint64_t until_ns, uint64_t slice_ns)
{
    for (size_t i = 0; i < q->n && dh_campaign_time_left(c) && left_of(c, until_ns); i++) {
        struct turn *t = &q->at[i];
        if (t->is_settled || (observed_only && !t->is_observed) || is_served_by_another(q, t, !slice_ns))
            continue;
        uint64_t left = left_of(c, until_ns), share = left / count_waiting(q, observed_only);
        take_turn(c, t, !slice_ns ? share : slice_ns < left ? slice_ns : left);
        if (!slice_ns)
            t->is_settled = true;
        settle(q);
    }
}

static void serve(struct campaign *c, struct queue *q, bool observed_only, uint64_t until_ns)
{
    size_t waiting = count_waiting(q, observed_only);
    uint64_t slice = waiting ? left_of(c, until_ns) / waiting / FIRST_GOAL_SLICE : 0;
    slice = most(slice, most(LEAST_GOAL_SLICE, 2 * c->terms.o->least_ns));
    while (count_waiting(q, observed_only) && dh_campaign_time_left(c) && left_of(c, until_ns) > MS &&
           !c->terms.out->no_threads) {
        serve_round(c, q, observed_only, until_ns, slice);
        slice *= 2;
    }
}

void dh_campaign_pursue_goals(struct campaign *c)
{
    struct queue q = make_queue(c);
    dh_campaign_search_jointly(c);
    settle(&q);
    settle_shown(c, &q);
    size_t observed = count_waiting(&q, true);
    if (has_one_round(c))
        serve_round(c, &q, false, UINT64_MAX, 0);
    else {
        if (observed && observed < q.n) /* suspicions get half of the time, when they have to share */
            serve(c, &q, true, c->began_ns + (c->until_ns - c->began_ns) / 2);
        serve(c, &q, false, UINT64_MAX);
    }
    free(q.at);
}
