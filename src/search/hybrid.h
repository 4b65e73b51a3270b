/* Hybrid race detection (O'Callahan and Choi, PPoPP 2003): two conflicting accesses of which one is under a lock, none
 * lock protects both, and which only the order of locks has put one after the other in this schedule. Others may bring
 * them together: such pairs are where to search, no findings. Pairs without any lock are left out, as most of them are
 * handed over. Layer: search, part of schedule_races.h. */
#ifndef DH_SEARCH_HYBRID_H
#define DH_SEARCH_HYBRID_H

#include "search/strategy.h"

struct dh_hybrid;

/* NULL: no memory. */
struct dh_hybrid *dh_hybrid_new(struct dh_search *search);
void dh_hybrid_begin(struct dh_hybrid *h);
/* Which locks the thread holds after the step. True: it acquired one. */
bool dh_hybrid_step(struct dh_hybrid *h, uint32_t thread, const struct dh_step *step);
/* The thread's epoch begins, in the order with locks; `unlocked` is its epoch in the order without. */
void dh_hybrid_epoch(struct dh_hybrid *h, uint32_t thread, uint32_t epoch, uint32_t unlocked);
/* The epoch, in the order without locks, of an access of that thread at that epoch, if no lock protects it and what
 * `other` does now, and one of them is under a lock; else 0. */
uint32_t dh_hybrid_unprotected(const struct dh_hybrid *h, uint32_t thread, uint32_t epoch, uint32_t other);

#endif
