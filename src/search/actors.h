/* Which threads can be chosen and how gladly, for all strategies alike. Layer: search. */
#ifndef DH_SEARCH_ACTORS_H
#define DH_SEARCH_ACTORS_H

#include "search/rng.h"
#include "search/strategy.h"

/* In which order threads are preferred: those that yield after those that do not, and time-outs last. */
enum dh_rank { DH_RANK_BLOCKED, DH_RANK_TIMEOUT, DH_RANK_YIELDS, DH_RANK_READY };

static inline enum dh_rank dh_actor_rank(const struct dh_actor *a)
{
    /* A table, since all actors are ranked at every step, and no branch predictor knows them. */
    enum { ENDED = 8, ENABLED = 4, YIELDS = 2, MAY_TIME_OUT = 1 };
    static const uint8_t ranks[16] = {
        [MAY_TIME_OUT] = DH_RANK_TIMEOUT,    [YIELDS | MAY_TIME_OUT] = DH_RANK_TIMEOUT,
        [ENABLED] = DH_RANK_READY,           [ENABLED | MAY_TIME_OUT] = DH_RANK_READY,
        [ENABLED | YIELDS] = DH_RANK_YIELDS, [ENABLED | YIELDS | MAY_TIME_OUT] = DH_RANK_YIELDS,
    };
    return (enum dh_rank)ranks[(a->ended ? ENDED : 0) | (a->enabled ? ENABLED : 0) | (a->yields ? YIELDS : 0) |
                               (a->alternatives > 1 ? MAY_TIME_OUT : 0)];
}

/* How many there are of each rank but BLOCKED. In registers, without branches: of many actors this is a good part of
 * what a step costs. */
static inline void dh_actors_count(const struct dh_decision *now, uint32_t of_rank[DH_RANK_READY + 1])
{
    uint32_t ready = 0, yielding = 0, late = 0;
    for (unsigned i = 0; i < now->count; i++) {
        const struct dh_actor *a = &now->actors[i];
        uint32_t left = !a->ended, enabled = left & (a->enabled != 0), yields = enabled & (a->yields != 0);
        ready += enabled - yields;
        yielding += yields;
        late += (left ^ enabled) & (a->alternatives > 1);
    }
    of_rank[DH_RANK_READY] = ready;
    of_rank[DH_RANK_YIELDS] = yielding;
    of_rank[DH_RANK_TIMEOUT] = late;
}

static inline uint32_t dh_actor_first(const struct dh_actor *a)
{
    return a->enabled ? 0 : 1;
}

/* One more than the last alternative. */
static inline uint32_t dh_actor_end(const struct dh_actor *a)
{
    return a->alternatives ? a->alternatives : 1;
}

static inline struct dh_choice dh_choose_cut(void)
{
    return (struct dh_choice){.thread = DH_CHOOSE_CUT};
}

/* A random alternative of the thread; time-outs are rare. */
static inline struct dh_choice dh_choose_alternative(struct dh_rng *rng, const struct dh_decision *now, uint32_t thread)
{
    const struct dh_actor *a = &now->actors[thread];
    uint32_t first = dh_actor_first(a), n = dh_actor_end(a) - first;
    if (n < 2 || (a->step.flags & DH_STEP_TIMED && a->enabled && dh_rng_below(rng, 8)))
        return (struct dh_choice){thread, first};
    return (struct dh_choice){thread, first + dh_rng_below(rng, n)};
}

#endif
