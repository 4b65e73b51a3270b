/* Lock sets of a recorded run, shared by prefix.c and prefix_extend.c. Layer: search. */
#ifndef DH_SEARCH_PREFIX_INTERNAL_H
#define DH_SEARCH_PREFIX_INTERNAL_H

#include "search/grow.h"
#include "search/prefix.h"

struct dh_prefix {
    struct dh_search *search;
    struct dh_recorded_run run;
    struct dh_prefix_held {
        uint32_t set, n; /* in `locks` */
    } *held;             /* before each step */
    uint64_t *locks;
    uint32_t locks_room, locks_used;
};

#endif
