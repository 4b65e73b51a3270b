/* Vector clocks of hb.c: entries at or above n are 0. Layer: search. Storage stays with its holder for the whole search
 * and grows to the double. */
#ifndef DH_SEARCH_HB_CLOCK_H
#define DH_SEARCH_HB_CLOCK_H

#include "search/pool.h"

struct dh_hb_clock {
    uint32_t *at;
    uint32_t at_room, n;
};

static inline uint32_t dh_hb_clock_get(const struct dh_hb_clock *c, uint32_t thread)
{
    return thread < c->n ? c->at[thread] : 0;
}

/* Without memory nothing is known, which may tell a race too many but none too few; the search knows. */
static inline bool dh_hb_clock_widen(struct dh_search *search, struct dh_hb_clock *c, uint32_t n)
{
    if (n <= c->n)
        return true;
    if (n > c->at_room && !DH_POOL_GROW(search, c, at, c->n, n))
        return false;
    while (c->n < n)
        c->at[c->n++] = 0;
    return true;
}

static inline void dh_hb_clock_join(struct dh_search *search, struct dh_hb_clock *to, const struct dh_hb_clock *from)
{
    if (!dh_hb_clock_widen(search, to, from->n))
        return;
    for (uint32_t i = 0; i < from->n; i++)
        if (from->at[i] > to->at[i])
            to->at[i] = from->at[i];
}

static inline void dh_hb_clock_copy(struct dh_search *search, struct dh_hb_clock *to, const struct dh_hb_clock *from)
{
    to->n = 0;
    dh_hb_clock_join(search, to, from);
}

#endif
