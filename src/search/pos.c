/* Partial order sampling (Yuan, Yang, Gu, CAV 2018): every step that is pending has a random priority, the highest is
 * executed, and those that depended on it get new ones. That comes near to choosing among happens-before classes alike
 * rather than among orders. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/strategies.h"

enum { LATE_ONE_IN = 16 };

struct pos {
    struct dh_search *search;
    struct dh_rng chance;
    uint64_t *priority;
    uint32_t priority_room, threads;
    struct dh_step executed;
    bool any; /* executed */
};

static void *start(struct dh_search *search)
{
    struct pos *p = search->memory(search, sizeof *p);
    if (!p)
        return NULL;
    p->search = search;
    p->chance.state = search->seed;
    return p;
}

static bool begin(void *self)
{
    struct pos *p = self;
    p->threads = 0;
    p->any = false;
    return !p->search->statistics.no_memory;
}

static bool draw(struct pos *p, const struct dh_decision *m)
{
    if (!DH_SEARCH_GROW(p->search, p, priority, p->threads, m->count))
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        if (i >= p->threads || i == m->last ||
            (p->any && !m->actors[i].ended && dh_steps_depend(&p->executed, &m->actors[i].step)))
            p->priority[i] = dh_rng_next(&p->chance);
    p->threads = m->count;
    return true;
}

static struct dh_choice choose(void *self, const struct dh_decision *m)
{
    struct pos *p = self;
    if (m->depth >= p->search->depth_max || !draw(p, m))
        return dh_choose_cut();
    uint32_t best[DH_RANK_READY + 1] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t *b = &best[dh_actor_rank(&m->actors[i])];
        if (*b == UINT32_MAX || p->priority[i] > p->priority[*b])
            *b = i;
    }
    unsigned rank = DH_RANK_READY;
    if (best[DH_RANK_TIMEOUT] != UINT32_MAX && !dh_rng_below(&p->chance, LATE_ONE_IN))
        rank = DH_RANK_TIMEOUT;
    while (rank && best[rank] == UINT32_MAX)
        rank--;
    return rank ? dh_choose_alternative(&p->chance, m, best[rank]) : dh_choose_cut();
}

static void done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct pos *p = self;
    (void)thread, (void)alternative;
    p->executed = *step;
    p->any = true;
}

static void end(void *self, enum dh_schedule_end how, const struct dh_decision *m)
{
    (void)self, (void)how, (void)m;
}

const struct dh_strategy dh_strategy_pos = {
    .name = "pos",
    .summary = "random priorities of steps, drawn anew where order matters",
    .start = start,
    .begin = begin,
    .choose = choose,
    .done = done,
    .end = end,
};
