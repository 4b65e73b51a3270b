/* How much of a program's orders a search has seen: pairs of places whose steps depended on each other, one right after
 * the other at the same object, in one order and in both. Layer: search. A schedule begins without cleaning up. */
#ifndef DH_SEARCH_COVERAGE_H
#define DH_SEARCH_COVERAGE_H

#include "search/strategy.h"

struct dh_coverage;

/* NULL: no memory. */
struct dh_coverage *dh_coverage_new(struct dh_search *search);
void dh_coverage_begin(struct dh_coverage *c);
/* As executed. */
void dh_coverage_step(struct dh_coverage *c, uint32_t thread, const struct dh_step *step);
/* Pairs of places seen, and of those the ones seen in both orders; a place with itself, of two threads, is both. */
void dh_coverage_count(const struct dh_coverage *c, uint64_t *pairs, uint64_t *both);

#endif
