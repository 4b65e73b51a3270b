/* Minimises context switches of a schedule that reaches a goal, by delta debugging (Zeller and Hildebrandt, Simplifying
 * and isolating failure-inducing input, 2002) over its segments, the steps that a thread takes in a row. In a window of
 * segments those of each thread are grouped, or all are left out; steps that are impossible then are skipped, and after
 * the last segment a thread is preempted only before an access of the target. The driver sets search->reached when a
 * schedule reaches the goal; the next ones are derived from it. */
#include "search/actors.h"
#include "search/strategies.h"

enum {
    UNPLANNED = 8,    /* schedules without any segment, at first */
    MORE_STEPS = 512, /* that a schedule with fewer switches may have */
    RELEASE_ONE_IN = 4,
};

struct segment {
    uint32_t thread;
    uint32_t from, n; /* of the choices */
};

/* A schedule as choices, and as segments of them. */
struct sequence {
    struct dh_choice *at;
    uint32_t n, switches;
    struct segment *segment;
    uint32_t segments;
};

enum reduction { GROUP, LEAVE_OUT };

struct shorten {
    struct dh_search *search;
    struct dh_rng rng;
    uint32_t room;
    struct sequence best, taken;
    struct segment *plan; /* of the schedule that is tried */
    uint32_t planned;
    uint32_t at, done; /* in the plan: segment, and steps of it */
    bool from_plan;    /* so was the last choice */
    /* the next plan */
    unsigned unplanned;
    uint32_t window, first;
    enum reduction reduction;
    bool improved; /* since the last pass over all windows began */
};

/* ---- sequences ---- */

static void sequence_clear(struct sequence *t)
{
    t->n = t->switches = t->segments = 0;
}

static void sequence_add(struct sequence *t, struct dh_choice c)
{
    struct segment *last = t->segments ? &t->segment[t->segments - 1] : NULL;
    if (last && last->thread == c.thread) {
        last->n++;
    } else {
        t->switches += t->segments != 0;
        t->segment[t->segments++] = (struct segment){c.thread, t->n, 1};
    }
    t->at[t->n++] = c;
}

static bool sequence_init(struct sequence *t, struct dh_search *search, uint32_t room)
{
    t->at = search->memory(search, room * sizeof *t->at);
    t->segment = search->memory(search, room * sizeof *t->segment);
    return t->at && t->segment;
}

static void *start(struct dh_search *search)
{
    struct shorten *s = search->memory(search, sizeof *s);
    if (!s || !search->prefix_length || search->prefix_length > UINT32_MAX / 4)
        return NULL;
    s->search = search;
    s->rng.state = search->seed;
    s->room = 2 * search->prefix_length + MORE_STEPS;
    s->plan = search->memory(search, s->room * sizeof *s->plan);
    if (!s->plan || !sequence_init(&s->best, search, s->room) || !sequence_init(&s->taken, search, s->room))
        return NULL;
    for (uint32_t i = 0; i < search->prefix_length; i++)
        sequence_add(&s->best, search->prefix[i]);
    s->window = s->best.segments;
    return s;
}

/* ---- plans ---- */

static void plan_add(struct shorten *s, uint32_t segment)
{
    s->plan[s->planned++] = s->best.segment[segment];
}

/* The segments of each thread in a row, threads in the order of their first segment. */
static void plan_group(struct shorten *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        uint32_t thread = s->best.segment[i].thread;
        bool again = false;
        for (uint32_t k = from; k < i && !again; k++)
            again = s->best.segment[k].thread == thread;
        for (uint32_t k = i; k < to && !again; k++)
            if (s->best.segment[k].thread == thread)
                plan_add(s, k);
    }
}

static uint32_t next_of(const struct shorten *s, uint32_t segment)
{
    uint32_t i = segment + 1;
    while (i < s->best.segments && s->best.segment[i].thread != s->best.segment[segment].thread)
        i++;
    return i;
}

/* Grouping in a window of one pulls the next segment of its thread there. */
static void make_plan(struct shorten *s)
{
    uint32_t n = s->best.segments, from = s->first, to = s->window < n - from ? from + s->window : n;
    uint32_t pulled = s->window == 1 && s->reduction == GROUP ? next_of(s, from) : n;
    for (uint32_t i = 0; i < from; i++)
        plan_add(s, i);
    if (pulled < n) {
        plan_add(s, from);
        plan_add(s, pulled);
    } else if (s->reduction == GROUP)
        plan_group(s, from, to);
    for (uint32_t i = to; i < n; i++)
        if (i != pulled)
            plan_add(s, i);
}

static bool next_window(struct shorten *s)
{
    if (s->first < s->best.segments)
        return true;
    s->first = 0;
    if (s->window == 1 && !s->improved)
        return false;
    s->improved = s->window == 1 ? false : s->improved;
    s->window = s->window > 1 ? s->window / 2 : 1;
    return true;
}

static bool begin_schedule(void *self)
{
    struct shorten *s = self;
    s->planned = s->at = s->done = 0;
    sequence_clear(&s->taken);
    if (s->best.switches == 0 || s->search->statistics.no_memory)
        return false;
    if (s->unplanned++ < UNPLANNED)
        return true;
    if (!next_window(s))
        return false;
    make_plan(s);
    s->first += s->reduction == LEAVE_OUT ? s->window : 0;
    s->reduction = s->reduction == GROUP ? LEAVE_OUT : GROUP;
    return true;
}

/* The same window is tried again. */
static void adopt(struct shorten *s)
{
    struct sequence before = s->best;
    s->best = s->taken;
    s->taken = before;
    s->improved = true;
    s->first = s->reduction == GROUP && s->first >= s->window ? s->first - s->window : s->first;
    s->reduction = GROUP;
    if (s->window > s->best.segments)
        s->window = s->best.segments;
}

/* ---- choosing ---- */

static bool is_possible(const struct dh_decision *now, struct dh_choice c)
{
    if (c.thread >= now->count || now->actors[c.thread].ended)
        return false;
    const struct dh_actor *a = &now->actors[c.thread];
    return c.alternative ? c.alternative < a->alternatives : a->enabled;
}

static bool choose_by_plan(struct shorten *s, const struct dh_decision *now, struct dh_choice *out)
{
    for (; s->at < s->planned; s->at++, s->done = 0) {
        const struct segment *g = &s->plan[s->at];
        *out = g->n > s->done ? s->best.at[g->from + s->done] : (struct dh_choice){DH_CHOOSE_CUT, 0};
        if (is_possible(now, *out))
            return true;
    }
    return false;
}

static bool is_at_target(const struct shorten *s, const struct dh_step *step)
{
    const struct dh_search_target *t = &s->search->target;
    return t->set && step->kind >= DH_STEP_READ && step->kind <= DH_STEP_COPY &&
           (step->site == t->site[0] || step->site == t->site[1]);
}

/* The thread of the last step goes on, else a random one; those before an access of the target after all others. */
static struct dh_choice choose_unplanned(struct shorten *s, const struct dh_decision *now)
{
    unsigned best = 0;
    uint32_t chosen = DH_CHOOSE_CUT, seen = 0;
    bool release = !dh_rng_below(&s->rng, RELEASE_ONE_IN);
    for (uint32_t i = 0; i < now->count; i++) {
        const struct dh_actor *a = &now->actors[i];
        unsigned rank = 4u * dh_actor_rank(a);
        if (!rank)
            continue;
        bool held = is_at_target(s, &a->step) && !release;
        rank += held ? 0 : rank == 4u * DH_RANK_READY && i == now->last ? 2 : 1;
        rank = held ? 1 : rank;
        seen = rank == best ? seen + 1 : rank > best ? 1 : seen;
        if (rank > best || (rank == best && !dh_rng_below(&s->rng, seen)))
            chosen = i;
        best = rank > best ? rank : best;
    }
    return chosen == DH_CHOOSE_CUT ? dh_choose_cut() : (struct dh_choice){chosen, dh_actor_first(&now->actors[chosen])};
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct shorten *s = self;
    struct dh_choice c;
    if (s->search->reached || s->taken.n >= s->room || s->taken.switches >= s->best.switches)
        return dh_choose_cut();
    s->from_plan = choose_by_plan(s, now, &c);
    return s->from_plan ? c : choose_unplanned(s, now);
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct shorten *s = self;
    (void)step;
    s->done += s->from_plan;
    if (s->taken.n < s->room)
        sequence_add(&s->taken, (struct dh_choice){thread, alternative});
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    struct shorten *s = self;
    (void)how, (void)now;
    if (s->search->reached && s->taken.switches < s->best.switches)
        adopt(s);
}

const struct dh_strategy dh_strategy_shorten = {
    .name = "shorten",
    .summary = "a given schedule with ever fewer context switches",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
