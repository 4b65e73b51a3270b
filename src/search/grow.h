/* Arrays that grow in a search's memory, which is freed only with the search: the room doubles, so that abandoned
 * copies are never larger than what is used. Layer: search. Growing moves the elements. */
#ifndef DH_SEARCH_GROW_H
#define DH_SEARCH_GROW_H

#include "search/strategy.h"

/* Elements and pointers to them are of any type here. */
typedef uint64_t __attribute__((may_alias)) dh_search_word;
typedef void *__attribute__((may_alias)) dh_search_pointer;

/* Room for `want` elements; false: no memory, and `at` is as before. */
static inline bool dh_search_grow(struct dh_search *search, dh_search_pointer *at, uint32_t *room, uint32_t used,
                                  uint32_t want, uint32_t size)
{
    if (want <= *room)
        return true;
    uint32_t more = *room ? *room : 64;
    while (more < want) {
        if (more > UINT32_MAX / 2)
            return false;
        more *= 2;
    }
    dh_search_word *to = search->memory(search, (size_t)more * size);
    if (!to) {
        search->statistics.no_memory = true;
        return false;
    }
    const dh_search_word *from = *at;
    for (size_t i = 0; i < ((size_t)used * size + 7) / 8; i++)
        to[i] = from[i];
    *at = to;
    *room = more;
    return true;
}

/* For arrays `what`, of `what_room`. */
#define DH_SEARCH_GROW(search, owner, what, used, want)                                                                \
    dh_search_grow(search, (dh_search_pointer *)&(owner)->what, &(owner)->what##_room, used, want,                     \
                   sizeof *(owner)->what)

#endif
