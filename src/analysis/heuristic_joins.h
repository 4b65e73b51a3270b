/* Heuristic joins: the joined handle was loaded from where the handles of certain threads are kept, so these threads
 * have ended. Layer: analysis. No proof (join_loops.h has those): one join may stand for many, a handle may have been
 * moved. Reports use it, sparse instrumentation does not. Owns its storage. */
#ifndef DH_ANALYSIS_HEURISTIC_JOINS_H
#define DH_ANALYSIS_HEURISTIC_JOINS_H

#include "analysis/points_to_unify.h"

/* After this join, or call that joins, the threads of `create` have ended; also after every loop around it that does
 * not start them. */
struct dh_heuristic_join {
    uint32_t inst, block; /* block: number in the function */
    uint32_t create;      /* instruction */
    uint32_t start;       /* block of the function that starts them, or calls a function that does; DH_NONE: none */
};

struct dh_heuristic_joins {
    DH_VEC(struct dh_heuristic_join) all; /* by function */
    uint32_t *first;                      /* by function, one more at the end */
};

void dh_heuristic_joins_find(struct dh_heuristic_joins *e, struct dh_points_to *s);
void dh_heuristic_joins_release(struct dh_heuristic_joins *e);

#endif
