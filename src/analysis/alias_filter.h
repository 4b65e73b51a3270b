/* Pairs of events that cannot be about one object, by inclusion points-to sets (points_to_andersen.h). Used where
 * unification merged objects. Layer: analysis. Without an Andersen solution every answer is no. */
#ifndef DH_ANALYSIS_ALIAS_FILTER_H
#define DH_ANALYSIS_ALIAS_FILTER_H

#include "analysis/symex.h"

/* Two accesses of one node are to different objects, or to disjoint parts of one. */
bool dh_events_never_alias(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);
/* The node is only state that models of libraries introduce: the library synchronises it itself. */
bool dh_node_is_library_state(const struct dh_symex *w, uint32_t node);

#endif
