/* Witness prefixes (002, Shacham, Sagiv, Schuster, §3.1): from a recorded run, an access a1 that may race with a2, and
 * a schedule in which the other threads run on as far as possible while a1 is pending. Layer: search. Memory is the
 * search's; the run is the caller's and must outlive it. */
#ifndef DH_SEARCH_PREFIX_H
#define DH_SEARCH_PREFIX_H

#include "search/strategy.h"

/* One step of a run, as executed. */
struct dh_recorded_step {
    uint32_t thread, alternative;
    struct dh_step step;
};

struct dh_recorded_run {
    const struct dh_recorded_step *step;
    uint32_t n;
    uint32_t threads;
};

struct dh_prefix;

/* NULL: no memory. */
struct dh_prefix *dh_prefix_new(struct dh_search *search, const struct dh_recorded_run *run);

struct dh_prefix_pair {
    uint32_t first, second; /* steps of the run, in this order: a1 and a2 */
};
/* Candidates that may race with access `warned`: other thread, common bytes, a write, not both atomic, no common lock.
 * Number 0 is the last before it, 1 the one before that ...; after these come those after it, the nearest first (the
 * case of Fig. 7: then `warned` is a1). False: there are not so many. */
bool dh_prefix_find(const struct dh_prefix *p, uint32_t warned, uint32_t number, struct dh_prefix_pair *pair);

struct dh_prefix_choices {
    struct dh_choice *at; /* the prefix; after it a1 is pending in thread `held` */
    uint32_t n;
    uint32_t held;
    uint64_t frozen; /* threads below 64 that a2 did not depend on in the run */
    bool is_witness; /* after it step `racing` of the run, which races with a1, is pending, too */
    uint32_t racing;
};
/* Fig. 8, with its erratum, and for what threads of C programs do. False: no memory. */
bool dh_prefix_extend(struct dh_prefix *p, const struct dh_prefix_pair *pair, struct dh_prefix_choices *choices);

#endif
