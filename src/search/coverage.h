/* Interleaving coverage: pairs of places whose dependent steps came right after each other at one object, seen in one
 * order and in both. Layer: search. Entries carry the schedule's number, so nothing is cleared between schedules. */
#ifndef DH_SEARCH_COVERAGE_H
#define DH_SEARCH_COVERAGE_H

#include "search/strategy.h"

struct dh_coverage;

/* NULL: no memory. */
struct dh_coverage *dh_coverage_new(struct dh_search *search);
void dh_coverage_begin(struct dh_coverage *c);
/* As executed. */
void dh_coverage_step(struct dh_coverage *c, uint32_t thread, const struct dh_step *step);
/* Pairs of places, and how many of them came in both orders; a place paired with itself counts as both. */
void dh_coverage_count(const struct dh_coverage *c, uint64_t *pairs, uint64_t *both);

#endif
