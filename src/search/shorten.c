/* Fewer context switches: from a schedule that is known to lead to what is looked for, ever shorter ones, by delta
 * debugging (Zeller and Hildebrandt, Simplifying and isolating failure-inducing input, 2002) over its segments, the
 * steps that a thread takes in a row. Of a window of segments each thread's are put together, or all are left out; what
 * a thread cannot do then is passed over, and behind the last segment nobody is preempted but who is about to do one of
 * the accesses of the target. The host says in search->reached whether a schedule led there; it becomes what the next
 * ones are made of. */
#include "search/actors.h"
#include "search/strategies.h"

enum {
    BLIND = 8,        /* schedules without any segment, to begin with */
    ROOM_AHEAD = 512, /* steps that a shorter schedule may have more than the given one */
    LET_GO_ONE_IN = 4,
};

struct segment {
    uint32_t thread;
    uint32_t from, n; /* of the choices */
};

/* Choices and the segments that they are. */
struct tape {
    struct dh_choice *at;
    uint32_t n, switches;
    struct segment *segment;
    uint32_t segments;
};

enum deed { GROUP, LEAVE_OUT };

struct shorten {
    struct dh_search *search;
    struct dh_rng chance;
    uint32_t room;
    struct tape best, taken;
    struct segment *plan; /* what is to be tried */
    uint32_t planned;
    uint32_t at, done; /* in the plan: segment, and how much of it */
    bool from_plan;    /* the last choice */
    /* which comes next */
    unsigned blind;
    uint32_t window, first;
    enum deed deed;
    bool improved; /* since the windows began anew */
};

/* ---- tapes ---- */

static void tape_clear(struct tape *t)
{
    t->n = t->switches = t->segments = 0;
}

static void tape_add(struct tape *t, struct dh_choice c)
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

static bool tape_init(struct tape *t, struct dh_search *search, uint32_t room)
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
    s->chance.state = search->seed;
    s->room = 2 * search->prefix_length + ROOM_AHEAD;
    s->plan = search->memory(search, s->room * sizeof *s->plan);
    if (!s->plan || !tape_init(&s->best, search, s->room) || !tape_init(&s->taken, search, s->room))
        return NULL;
    for (uint32_t i = 0; i < search->prefix_length; i++)
        tape_add(&s->best, search->prefix[i]);
    s->window = s->best.segments;
    return s;
}

/* ---- what is tried next ---- */

static void plan_add(struct shorten *s, uint32_t segment)
{
    s->plan[s->planned++] = s->best.segment[segment];
}

/* Each thread's in a row, in the order in which they first come; a window of one takes the next of its thread. */
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

static void plan(struct shorten *s)
{
    uint32_t n = s->best.segments, from = s->first, to = s->window < n - from ? from + s->window : n;
    uint32_t pulled = s->window == 1 && s->deed == GROUP ? next_of(s, from) : n;
    for (uint32_t i = 0; i < from; i++)
        plan_add(s, i);
    if (pulled < n) {
        plan_add(s, from);
        plan_add(s, pulled);
    } else if (s->deed == GROUP)
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

static bool begin(void *self)
{
    struct shorten *s = self;
    s->planned = s->at = s->done = 0;
    tape_clear(&s->taken);
    if (s->best.switches == 0 || s->search->statistics.no_memory)
        return false;
    if (s->blind++ < BLIND)
        return true;
    if (!next_window(s))
        return false;
    plan(s);
    s->first += s->deed == LEAVE_OUT ? s->window : 0;
    s->deed = s->deed == GROUP ? LEAVE_OUT : GROUP;
    return true;
}

/* What was just done there may be done again. */
static void adopt(struct shorten *s)
{
    struct tape before = s->best;
    s->best = s->taken;
    s->taken = before;
    s->improved = true;
    s->first = s->deed == GROUP && s->first >= s->window ? s->first - s->window : s->first;
    s->deed = GROUP;
    if (s->window > s->best.segments)
        s->window = s->best.segments;
}

/* ---- choosing ---- */

static bool can(const struct dh_decision *m, struct dh_choice c)
{
    if (c.thread >= m->count || m->actors[c.thread].ended)
        return false;
    const struct dh_actor *a = &m->actors[c.thread];
    return c.alternative ? c.alternative < a->alternatives : a->enabled;
}

static bool as_planned(struct shorten *s, const struct dh_decision *m, struct dh_choice *out)
{
    for (; s->at < s->planned; s->at++, s->done = 0) {
        const struct segment *g = &s->plan[s->at];
        *out = g->n > s->done ? s->best.at[g->from + s->done] : (struct dh_choice){DH_CHOOSE_CUT, 0};
        if (can(m, *out))
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

/* Who ran goes on, else anybody; those that stand at the target after all others. */
static struct dh_choice without_plan(struct shorten *s, const struct dh_decision *m)
{
    unsigned best = 0;
    uint32_t chosen = DH_CHOOSE_CUT, seen = 0;
    bool let_go = !dh_rng_below(&s->chance, LET_GO_ONE_IN);
    for (uint32_t i = 0; i < m->count; i++) {
        const struct dh_actor *a = &m->actors[i];
        unsigned rank = 4u * dh_actor_rank(a);
        if (!rank)
            continue;
        bool held = is_at_target(s, &a->step) && !let_go;
        rank += held ? 0 : rank == 4u * DH_RANK_READY && i == m->last ? 2 : 1;
        rank = held ? 1 : rank;
        seen = rank == best ? seen + 1 : rank > best ? 1 : seen;
        if (rank > best || (rank == best && !dh_rng_below(&s->chance, seen)))
            chosen = i;
        best = rank > best ? rank : best;
    }
    return chosen == DH_CHOOSE_CUT ? dh_choose_cut() : (struct dh_choice){chosen, dh_actor_first(&m->actors[chosen])};
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct shorten *s = self;
    struct dh_choice c;
    if (s->search->reached || s->taken.n >= s->room || s->taken.switches >= s->best.switches)
        return dh_choose_cut();
    s->from_plan = as_planned(s, m, &c);
    return s->from_plan ? c : without_plan(s, m);
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct shorten *s = self;
    (void)step;
    s->done += s->from_plan;
    if (s->taken.n < s->room)
        tape_add(&s->taken, (struct dh_choice){thread, alternative});
}

static void end(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    struct shorten *s = self;
    (void)how, (void)m;
    if (s->search->reached && s->taken.switches < s->best.switches)
        adopt(s);
}

const struct dh_strategy dh_strategy_shorten = {
    .name = "shorten",
    .summary = "a given schedule with ever fewer context switches",
    .start = start,
    .begin = begin,
    .choose = choose,
    .done = done,
    .end = end,
};
