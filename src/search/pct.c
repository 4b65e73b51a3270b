/* Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatti, ASPLOS 2010): threads have random
 * priorities, the highest goes on; at d - 1 random points the one that would go on drops below all that are left. A bug
 * of depth d is found with a probability of at least 1 / (n k^(d-1)) in each schedule. Ours: k is the longest schedule
 * seen so far; a thread that yields drops below all others, but in one schedule of a few not at once: who spins for a
 * limited time and then sleeps is only so seen to sleep too early. Once a thread was seen to sleep, one in a few
 * schedules has a point more: at a place shortly before that, where a wake-up may be missed. And a thread that made
 * TIRING steps in a row drops, too: one that works until another tells it to stop would keep that one from it for ever,
 * and make k what nothing else is. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/sleepers.h"
#include "search/strategies.h"

enum {
    DEPTH = 3,
    DEPTH_MOST = 16,
    LENGTH_FIRST = 16,
    TIMEOUT_ONE_IN = 16,
    PATIENT_ONE_IN = 4,
    YIELDS_IGNORED = 64, /* or twice that in half of those, and so on: each doubling costs as many steps as another */
    YIELDS_IGNORED_MOST = 2048,
    SLEEPY_ONE_IN = 4,
    OCCURRENCE_BITS = 8, /* of how often a thread came to the place before, if not as often as the one that slept */
    TIRING = 4096
};

/* Priorities: those of threads that yielded, descending; above them those of change points, the one before a sleep
 * lowest; then initial ones. */
#define LOWEST ((uint64_t)1 << 30)
#define CHANGES ((uint64_t)1 << 31)
#define BEGINNING ((uint64_t)1 << 32)

struct pct {
    struct dh_search *search;
    struct dh_rng rng;
    uint32_t changes, at[DEPTH_MOST];
    uint32_t length; /* of the longest schedule */
    uint64_t *priority;
    uint32_t priority_room, threads;
    uint64_t low;
    uint32_t patience; /* yields that change nothing yet, */
    uint32_t patient;  /* and how many those were in the beginning */
    struct dh_sleepers sleepers;
    bool holds;                   /* one thread, */
    struct dh_sleepers_step held; /* which comes there first */
    uint32_t ran, in_row;         /* the thread of the latest step, and how many it made without another's */
};

static void *start(struct dh_search *search)
{
    struct pct *p = search->memory(search, sizeof *p);
    if (!p)
        return NULL;
    uint32_t depth = search->pct_depth ? search->pct_depth : DEPTH;
    p->search = search;
    p->rng.state = search->seed;
    p->changes = depth > DEPTH_MOST ? DEPTH_MOST : depth - 1;
    p->length = LENGTH_FIRST;
    return p;
}

static uint32_t some_patience(struct pct *p)
{
    if (dh_rng_below(&p->rng, PATIENT_ONE_IN))
        return 0;
    uint32_t patience = YIELDS_IGNORED;
    while (patience < YIELDS_IGNORED_MOST && !dh_rng_below(&p->rng, 2))
        patience *= 2;
    return patience;
}

/* As patient as the schedule in which a thread slept there: another one may never come to it. */
static void hold_before_sleep(struct pct *p)
{
    p->holds = p->sleepers.n && !dh_rng_below(&p->rng, SLEEPY_ONE_IN);
    if (!p->holds)
        return;
    const struct dh_sleepers_place *place = dh_sleepers_choose(&p->sleepers, &p->rng);
    p->held = place->step;
    p->patient = place->patience;
    if (dh_rng_below(&p->rng, 2))
        p->held.occurrence = dh_rng_below(&p->rng, 1u << dh_rng_below(&p->rng, OCCURRENCE_BITS));
}

static bool begin_schedule(void *self)
{
    struct pct *p = self;
    for (uint32_t i = 0; i < p->changes; i++)
        p->at[i] = dh_rng_below(&p->rng, p->length);
    p->threads = 0;
    p->low = LOWEST;
    p->ran = UINT32_MAX;
    p->in_row = 0;
    p->patient = some_patience(p);
    hold_before_sleep(p);
    p->patience = p->patient;
    dh_sleepers_begin(&p->sleepers);
    return !p->search->statistics.no_memory;
}

static bool is_tired(struct pct *p, uint32_t thread)
{
    p->in_row = thread == p->ran ? p->in_row + 1 : 1;
    p->ran = thread;
    return p->in_row % TIRING == 0;
}

static void drop(struct pct *p, uint32_t thread)
{
    p->priority[thread] = p->low--;
}

static bool know_threads(struct pct *p, const struct dh_decision *now)
{
    if (!DH_SEARCH_GROW(p->search, p, priority, p->threads, now->count) ||
        !dh_sleepers_observe(&p->sleepers, p->search, now, p->patient))
        return false;
    for (; p->threads < now->count; p->threads++)
        p->priority[p->threads] = BEGINNING + (dh_rng_next(&p->rng) >> 1);
    if (now->last >= now->count)
        return true;
    bool yields = now->actors[now->last].yields;
    if (is_tired(p, now->last) || (yields && !p->patience))
        drop(p, now->last);
    else if (yields)
        p->patience--;
    return true;
}

/* The highest priority among enabled threads, or among those that could only time out. */
static uint32_t highest(struct pct *p, const struct dh_decision *now, bool late)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < now->count; i++) {
        enum dh_rank rank = dh_actor_rank(&now->actors[i]);
        if (rank == DH_RANK_BLOCKED || (rank == DH_RANK_TIMEOUT) != late)
            continue;
        if (best == UINT32_MAX || p->priority[i] > p->priority[best])
            best = i;
    }
    return best;
}

static uint32_t next_thread(struct pct *p, const struct dh_decision *now)
{
    uint32_t ready = highest(p, now, false), late = highest(p, now, true);
    if (late != UINT32_MAX && (ready == UINT32_MAX || !dh_rng_below(&p->rng, TIMEOUT_ONE_IN)))
        return late;
    return ready;
}

static bool is_held(struct pct *p, const struct dh_decision *now, uint32_t thread)
{
    if (!p->holds || thread == UINT32_MAX)
        return false;
    const struct dh_step *step = &now->actors[thread].step;
    bool held = step->site == p->held.site && step->occurrence == p->held.occurrence;
    p->holds = !held;
    return held;
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct pct *p = self;
    if (now->depth >= p->search->depth_max || !know_threads(p, now))
        return dh_choose_cut();
    if (now->depth >= p->length)
        p->length = now->depth + 1;
    uint32_t thread = next_thread(p, now);
    for (uint32_t i = 0; thread != UINT32_MAX && i < p->changes; i++)
        if (p->at[i] == now->depth) {
            p->priority[thread] = CHANGES - i;
            thread = next_thread(p, now);
        }
    if (is_held(p, now, thread)) {
        p->priority[thread] = CHANGES - p->changes;
        thread = next_thread(p, now);
    }
    return thread == UINT32_MAX ? dh_choose_cut() : dh_choose_alternative(&p->rng, now, thread);
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    (void)self, (void)thread, (void)alternative, (void)step;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    (void)self, (void)how, (void)now;
}

const struct dh_strategy dh_strategy_pct = {
    .name = "pct",
    .summary = "random priorities that change at a few points",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
