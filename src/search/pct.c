/* Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatti, ASPLOS 2010): threads have random
 * priorities, the highest goes on; at d - 1 random points the one that would go on drops below all that are left. A bug
 * of depth d is found with a probability of at least 1 / (n k^(d-1)) in each schedule. Ours: k is the longest schedule
 * seen so far; who gives way drops below everybody. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/strategies.h"

enum { DEPTH = 3, DEPTH_MOST = 16, LENGTH_FIRST = 16, LATE_ONE_IN = 16 };

/* Priorities: drops by giving way, going down; then changes, in order; then where threads begin. */
#define LOWEST ((uint64_t)1 << 30)
#define CHANGES ((uint64_t)1 << 31)
#define BEGINNING ((uint64_t)1 << 32)

struct pct {
    struct dh_search *search;
    struct dh_rng chance;
    uint32_t changes, at[DEPTH_MOST];
    uint32_t length; /* of the longest schedule */
    uint64_t *priority;
    uint32_t priority_room, threads;
    uint64_t low;
};

static void *start(struct dh_search *search)
{
    struct pct *p = search->memory(search, sizeof *p);
    if (!p)
        return NULL;
    uint32_t depth = search->pct_depth ? search->pct_depth : DEPTH;
    p->search = search;
    p->chance.state = search->seed;
    p->changes = depth > DEPTH_MOST ? DEPTH_MOST : depth - 1;
    p->length = LENGTH_FIRST;
    return p;
}

static bool begin(void *self)
{
    struct pct *p = self;
    for (uint32_t i = 0; i < p->changes; i++)
        p->at[i] = dh_rng_below(&p->chance, p->length);
    p->threads = 0;
    p->low = LOWEST;
    return !p->search->statistics.no_memory;
}

static bool know_threads(struct pct *p, const struct dh_decision *m)
{
    if (!DH_SEARCH_GROW(p->search, p, priority, p->threads, m->count))
        return false;
    for (; p->threads < m->count; p->threads++)
        p->priority[p->threads] = BEGINNING + (dh_rng_next(&p->chance) >> 1);
    if (m->last < m->count && m->actors[m->last].yields)
        p->priority[m->last] = p->low--;
    return true;
}

/* The highest of those who can go on; who could only run out of time, seldom. */
static uint32_t highest(struct pct *p, const struct dh_decision *m, bool late)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < m->count; i++) {
        enum dh_rank rank = dh_actor_rank(&m->actors[i]);
        if (rank == DH_RANK_BLOCKED || (rank == DH_RANK_TIMEOUT) != late)
            continue;
        if (best == UINT32_MAX || p->priority[i] > p->priority[best])
            best = i;
    }
    return best;
}

static uint32_t next_thread(struct pct *p, const struct dh_decision *m)
{
    uint32_t ready = highest(p, m, false), late = highest(p, m, true);
    if (late != UINT32_MAX && (ready == UINT32_MAX || !dh_rng_below(&p->chance, LATE_ONE_IN)))
        return late;
    return ready;
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct pct *p = self;
    if (m->depth >= p->search->depth_max || !know_threads(p, m))
        return dh_choose_cut();
    if (m->depth >= p->length)
        p->length = m->depth + 1;
    uint32_t thread = next_thread(p, m);
    for (uint32_t i = 0; thread != UINT32_MAX && i < p->changes; i++)
        if (p->at[i] == m->depth) {
            p->priority[thread] = CHANGES - i;
            thread = next_thread(p, m);
        }
    return thread == UINT32_MAX ? dh_choose_cut() : dh_choose_alternative(&p->chance, m, thread);
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    (void)self, (void)thread, (void)alternative, (void)step;
}

static void end(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    (void)self, (void)how, (void)m;
}

const struct dh_strategy dh_strategy_pct = {
    .name = "pct",
    .summary = "random priorities that change at a few points",
    .start = start,
    .begin = begin,
    .choose = choose,
    .done = done,
    .end = end,
};
