/* Heuristic: publication through atomics (message passing). One side accesses the data before a release write to an
 * atomic, the other one after an acquire load that may have read that value. Layer: analysis. Tried when nothing else
 * rules out a pair; no proof. Context-insensitive: all calls of a function in the thread count. Owns its storage. */
#ifndef DH_ANALYSIS_ATOMIC_PUBLICATION_H
#define DH_ANALYSIS_ATOMIC_PUBLICATION_H

#include "analysis/symex.h"

struct dh_publication {
    struct dh_symex *symex;
    uint32_t *first, *calls; /* by function: its calls are calls[first[f]] .. calls[first[f + 1] - 1] */
    uint8_t *reached[DH_ABSTRACT_THREADS_MAX]; /* by thread, on demand: functions that it may run */
    DH_VEC(struct dh_publication_op) ops;      /* queried so far */
};

void dh_publication_init(struct dh_publication *p, struct dh_symex *w);
void dh_publication_release(struct dh_publication *p);
/* Whether a publication orders the two. */
bool dh_publication_orders(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b);

#endif
