/* Random walk: every enabled thread is equally likely. Threads that yielded wait for the others; time-outs are rare
 * while another thread is enabled. */
#include "search/actors.h"
#include "search/strategies.h"

enum { TIMEOUT_ONE_IN = 16 };

struct walk {
    struct dh_rng rng;
    uint32_t depth_max;
};

static void *start(struct dh_search *search)
{
    struct walk *w = search->memory(search, sizeof *w);
    if (!w)
        return NULL;
    w->rng.state = search->seed;
    w->depth_max = search->depth_max;
    return w;
}

static bool begin_schedule(void *self)
{
    (void)self;
    return true;
}

static struct dh_choice choose(void *self, const struct dh_decision *now)
{
    struct walk *w = self;
    uint32_t of_rank[DH_RANK_READY + 1] = {0};
    dh_actors_count(now, of_rank);
    unsigned rank = DH_RANK_READY;
    while (rank && !of_rank[rank])
        rank--;
    if (!rank || now->depth >= w->depth_max)
        return dh_choose_cut();
    if (of_rank[DH_RANK_TIMEOUT] && !dh_rng_below(&w->rng, TIMEOUT_ONE_IN))
        rank = DH_RANK_TIMEOUT;
    uint32_t left = of_rank[rank] > 1 ? dh_rng_below(&w->rng, of_rank[rank]) : 0;
    for (unsigned i = 0;; i++)
        if (dh_actor_rank(&now->actors[i]) == rank && !left--)
            return dh_choose_alternative(&w->rng, now, i);
}

static void step_done(void *self, uint32_t thread, uint32_t alternative, const struct dh_step *step)
{
    (void)self, (void)thread, (void)alternative, (void)step;
}

static void end_schedule(void *self, enum dh_schedule_end how, const struct dh_decision *now)
{
    (void)self, (void)how, (void)now;
}

const struct dh_strategy dh_strategy_random = {
    .name = "random",
    .summary = "random walk",
    .start = start,
    .begin = begin_schedule,
    .choose = choose,
    .done = step_done,
    .end = end_schedule,
};
