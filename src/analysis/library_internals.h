/* Accesses inside the C++ library's own synchronisation: the shared state of promises, tasks and futures, and
 * reference counts of shared pointers. Layer: analysis. Heuristic: the library synchronises its own data; what the
 * program accesses through it is checked as usual. */
#ifndef DH_ANALYSIS_LIBRARY_INTERNALS_H
#define DH_ANALYSIS_LIBRARY_INTERNALS_H

#include "analysis/symex.h"

bool dh_event_in_library_internals(const struct dh_symex *w, const struct dh_symex_event *e);

#endif
