/* Partial order sampling (Yuan, Yang, Gu, CAV 2018): every step that is pending has a random priority, the highest is
 * executed, and those that depended on it get new ones. This samples happens-before classes more evenly than
 * interleavings. */
#include "search/actors.h"
#include "search/grow.h"
#include "search/strategies.h"

enum { TIMEOUT_ONE_IN = 16 };

struct pos {
    struct dh_search *search;
    struct dh_rng rng;
    uint64_t *priority;
    uint32_t priority_room, threads;
    struct dh_step executed;
    bool has_executed;
};

static void *start(struct dh_search *search)
{
    struct pos *p = search->memory(search, sizeof *p);
    if (!p)
        return NULL;
    p->search = search;
    p->rng.state = search->seed;
    return p;
}

static bool begin_schedule(void *self)
{
    struct pos *p = self;
    p->threads = 0;
    p->has_executed = false;
    return !p->search->statistics.no_memory;
}

static bool draw(struct pos *p, const struct dh_decision *now)
{
    if (!DH_SEARCH_GROW(p->search, p, priority, p->threads, now->count))
        return false;
    for (uint32_t i = 0; i < now->count; i++)
        if (i >= p->threads || i == now->last ||
            (p->has_executed && !now->actors[i].ended && dh_steps_depend(&p->executed, &now->actors[i].step)))
            p->priority[i] = dh_rng_next(&p->rng);
    p->threads = now->count;
    return true;
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct pos *p = self;
    if (now->depth >= p->search->depth_max || !draw(p, now))
        return dh_choose_cut();
    uint32_t best[DH_RANK_READY + 1] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < now->count; i++) {
        uint32_t *b = &best[dh_actor_rank(&now->actors[i])];
        if (*b == UINT32_MAX || p->priority[i] > p->priority[*b])
            *b = i;
    }
    unsigned rank = DH_RANK_READY;
    if (best[DH_RANK_TIMEOUT] != UINT32_MAX && !dh_rng_below(&p->rng, TIMEOUT_ONE_IN))
        rank = DH_RANK_TIMEOUT;
    while (rank && best[rank] == UINT32_MAX)
        rank--;
    return rank ? dh_choose_alternative(&p->rng, now, best[rank]) : dh_choose_cut();
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    struct pos *p = self;
    (void)thread, (void)alternative;
    p->executed = *step;
    p->has_executed = true;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    (void)self, (void)how, (void)now;
}

const struct dh_strategy dh_strategy_pos = {
    .name = "pos",
    .summary = "random priorities of steps, drawn anew where order matters",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
