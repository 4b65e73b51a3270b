/* Which threads can be chosen and how gladly, for all strategies alike. Layer: search. */
#ifndef DH_SEARCH_ACTORS_H
#define DH_SEARCH_ACTORS_H

#include "search/rng.h"
#include "search/strategy.h"

/* In which order threads are preferred: those that yield after those that do not, and time-outs last. */
enum dh_rank { DH_RANK_BLOCKED, DH_RANK_TIMEOUT, DH_RANK_YIELDS, DH_RANK_READY };

static inline enum dh_rank dh_actor_rank(const struct dh_actor *a)
{
    if (a->ended)
        return DH_RANK_BLOCKED;
    if (a->enabled)
        return a->yields ? DH_RANK_YIELDS : DH_RANK_READY;
    return a->alternatives > 1 ? DH_RANK_TIMEOUT : DH_RANK_BLOCKED;
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
