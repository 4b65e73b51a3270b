/* Accesses inside the C++ library's own means of synchronisation: the state that promises, tasks and futures share, and
 * the counts of shared pointers. Layer: analysis. By custom a library keeps its own things in order; what the program
 * does with what it gets from there is looked at as ever. */
#ifndef DH_ANALYSIS_LIBRARY_INTERNALS_H
#define DH_ANALYSIS_LIBRARY_INTERNALS_H

#include "analysis/symex.h"

bool dh_event_in_library_internals(const struct dh_symex *w, const struct dh_symex_event *e);

#endif
