/* Who can be chosen, for all strategies alike. Layer: search. */
#ifndef DH_SEARCH_ACTORS_H
#define DH_SEARCH_ACTORS_H

#include "search/rng.h"
#include "search/strategy.h"

/* How good it is to choose a thread: one that gives way goes after those that do not, and what happens only because
 * time passes comes last. */
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

/* Which way a thread goes on, by chance: what times out does so seldom. */
static inline struct dh_choice dh_choose_alternative(struct dh_rng *chance, const struct dh_decision *m,
                                                     uint32_t thread)
{
    const struct dh_actor *a = &m->actors[thread];
    uint32_t first = dh_actor_first(a), n = dh_actor_end(a) - first;
    if (n < 2 || (a->step.flags & DH_STEP_TIMED && a->enabled && dh_rng_below(chance, 8)))
        return (struct dh_choice){thread, first};
    return (struct dh_choice){thread, first + dh_rng_below(chance, n)};
}

#endif
