/* Arrays that grow, in memory that is never given back before the search ends: each time to the double, so that what is
 * left behind is no more than what is used. Layer: search. Growing moves the elements. */
#ifndef DH_SEARCH_POOL_H
#define DH_SEARCH_POOL_H

#include "search/strategy.h"

/* Room for `want` elements; false: no memory, and `at` is as before. */
static inline bool dh_pool_grow(struct dh_search *search, void **at, uint32_t *room, uint32_t used, uint32_t want,
                                uint32_t size)
{
    if (want <= *room)
        return true;
    uint32_t more = *room ? *room : 64;
    while (more < want) {
        if (more > UINT32_MAX / 2)
            return false;
        more *= 2;
    }
    uint64_t *to = search->memory(search, (size_t)more * size);
    if (!to) {
        search->statistics.no_memory = true;
        return false;
    }
    const uint64_t *from = *at;
    for (size_t i = 0; i < ((size_t)used * size + 7) / 8; i++)
        to[i] = from[i];
    *at = to;
    *room = more;
    return true;
}

/* For arrays `what`, of `what_room`. */
#define DH_POOL_GROW(search, owner, what, used, want)                                                                  \
    dh_pool_grow(search, (void **)&(owner)->what, &(owner)->what##_room, used, want, sizeof *(owner)->what)

#endif
