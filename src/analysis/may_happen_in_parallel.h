/* May-happen-in-parallel by starts and joins of threads. Layer: analysis. */
#ifndef DH_ANALYSIS_MAY_HAPPEN_IN_PARALLEL_H
#define DH_ANALYSIS_MAY_HAPPEN_IN_PARALLEL_H

#include "analysis/symex.h"

/* `a` happens before any thread of b's kind was started, or after all of them were joined. */
bool dh_before_start(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);
bool dh_after_join(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);
bool dh_may_happen_in_parallel(const struct dh_symex *w, const struct dh_symex_event *a,
                               const struct dh_symex_event *b);
/* Two kinds of threads with one creator: whenever it starts one, all of the other kind have ended, and the other way
 * round. */
bool dh_threads_alternate(const struct dh_symex *w, unsigned a, unsigned b);
/* The same with heuristic joins (heuristic_joins.h). */
bool dh_threads_alternate_heuristically(const struct dh_symex *w, unsigned a, unsigned b);

#endif
