/* Places that a thread passes shortly before it sleeps until another one wakes it. Who looks whether it may sleep, and
 * goes to sleep after that, misses a wake-up that comes in between: searches hold threads there. Layer: search. Lives
 * in a search's memory. */
#ifndef DH_SEARCH_SLEEPERS_H
#define DH_SEARCH_SLEEPERS_H

#include "search/rng.h"
#include "search/strategy.h"

enum { DH_SLEEPERS_PLACES = 256, DH_SLEEPERS_WINDOW = 24 };

struct dh_sleepers {
    struct dh_sleepers_trail {
        struct dh_sleepers_step {
            uint32_t site, occurrence;
        } step[DH_SLEEPERS_WINDOW]; /* a ring: where it came to last */
        uint32_t n;
    } *trail;
    uint32_t trail_room, threads;
    struct dh_sleepers_place {
        struct dh_sleepers_step step; /* as it was the last time */
        uint32_t patience;            /* the least of a schedule in which a thread slept after it */
    } place[DH_SLEEPERS_PLACES];
    uint32_t n;
};

void dh_sleepers_begin(struct dh_sleepers *s);
/* At every decision; `patience`: of this schedule. False: no memory. */
bool dh_sleepers_observe(struct dh_sleepers *s, struct dh_search *search, const struct dh_decision *now,
                         uint32_t patience);
/* One of the places by chance; NULL: there is none. */
const struct dh_sleepers_place *dh_sleepers_choose(const struct dh_sleepers *s, struct dh_rng *rng);

#endif
