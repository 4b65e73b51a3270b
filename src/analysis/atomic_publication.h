/* Data that atomics hand over, by custom: one side accesses them before it writes an atomic in order, the other one
 * behind a look at that atomic. Layer: analysis. Asked when a pair would be suspected; no proof. Where a function is
 * called from is not told apart here: all its calls in the thread count. Owns its storage. */
#ifndef DH_ANALYSIS_ATOMIC_PUBLICATION_H
#define DH_ANALYSIS_ATOMIC_PUBLICATION_H

#include "analysis/symex.h"

struct dh_publication {
    struct dh_symex *symex;
    uint32_t *first, *calls; /* by function: its calls are calls[first[f]] .. calls[first[f + 1] - 1] */
    uint8_t *reached[DH_ABSTRACT_THREADS_MAX]; /* by thread, when asked: functions that it may run */
    DH_VEC(struct dh_deed) deeds;              /* asked for so far */
};

void dh_publication_init(struct dh_publication *p, struct dh_symex *w);
void dh_publication_release(struct dh_publication *p);
/* Whether by custom one of them happened before the other. */
bool dh_publication_orders(struct dh_publication *p, const struct dh_symex_event *a, const struct dh_symex_event *b);

#endif
