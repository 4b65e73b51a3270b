/* Threads that by custom have ended behind a join: the handle that is joined comes from where theirs are kept. Layer:
 * analysis. No proof (joins.h is): one join may stand for many, a handle may have moved; who reports relies on it, who
 * prunes does not. Owns its storage. */
#ifndef DH_ANALYSIS_HEURISTIC_JOINS_H
#define DH_ANALYSIS_HEURISTIC_JOINS_H

#include "analysis/points_to_unify.h"

/* Behind this join, or call that joins, the threads of `create` have ended; so they have behind every loop around it
 * that does not start them. */
struct dh_heuristic_join {
    uint32_t inst, block; /* block: number in the function */
    uint32_t create;      /* instruction */
    uint32_t start;       /* block of the function that starts them, or calls who does; DH_NONE: no block of it */
};

struct dh_heuristic_joins {
    DH_VEC(struct dh_heuristic_join) all; /* by function */
    uint32_t *first;                      /* by function, one more at the end */
};

void dh_heuristic_joins_find(struct dh_heuristic_joins *e, struct dh_points_to *s);
void dh_heuristic_joins_release(struct dh_heuristic_joins *e);

#endif
