/* Expensive heuristics, tried last: ownership transfer, wait order, publication, points-to by inclusion. Layer:
 * analysis. Needs the events of symbolic execution; owns its storage. */
#ifndef DH_ANALYSIS_HEURISTICS_H
#define DH_ANALYSIS_HEURISTICS_H

#include "analysis/atomic_publication.h"
#include "analysis/ownership_transfer.h"
#include "analysis/races.h"
#include "analysis/wait_order.h"

struct dh_heuristics {
    struct dh_symex *symex;
    struct dh_ownership_transfer ownership;
    struct dh_wait_order wait_order;
    struct dh_publication published;
};

void dh_heuristics_init(struct dh_heuristics *c, struct dh_symex *w);
void dh_heuristics_release(struct dh_heuristics *c);
/* DH_ARGUMENT_COUNT: none of them. */
enum dh_argument dh_heuristics_argue(struct dh_heuristics *c, const struct dh_symex_event *a,
                                     const struct dh_symex_event *b);

#endif
