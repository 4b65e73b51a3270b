/* Whether events of the walk can be about one object at all, by what their pointers may point to (inclusion.h). Asked
 * where uniting made one object of many. Layer: analysis. Answers nothing when the walk was given no inclusion. */
#ifndef DH_ANALYSIS_ALIAS_FILTER_H
#define DH_ANALYSIS_ALIAS_FILTER_H

#include "analysis/symex.h"

/* Two accesses of one node are of different objects, or of different parts of one. */
bool dh_events_never_alias(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);
/* The node is nothing but state that models of libraries made up: the library looks after it. */
bool dh_node_is_library_state(const struct dh_symex *w, uint32_t node);

#endif
