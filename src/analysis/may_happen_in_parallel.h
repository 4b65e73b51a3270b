/* Whether two events may happen at the same time, as far as starts and joins of threads tell. Layer: analysis. */
#ifndef DH_ANALYSIS_MAY_HAPPEN_IN_PARALLEL_H
#define DH_ANALYSIS_MAY_HAPPEN_IN_PARALLEL_H

#include "analysis/symex.h"

/* `a` happens before any thread like b's is there, or after all of them have ended. */
bool dh_before_start(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);
bool dh_after_join(const struct dh_symex *w, const struct dh_symex_event *a, const struct dh_symex_event *b);
bool dh_may_happen_in_parallel(const struct dh_symex *w, const struct dh_symex_event *a,
                               const struct dh_symex_event *b);
/* Threads that the same one starts: whenever it starts one of the ones, all of the others that it started have ended,
 * and the other way round. */
bool dh_threads_alternate(const struct dh_symex *w, unsigned a, unsigned b);
/* The same by custom: behind joins that stand for all (ended.h). */
bool dh_threads_alternate_heuristically(const struct dh_symex *w, unsigned a, unsigned b);

#endif
