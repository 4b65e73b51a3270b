/* Thread escape analysis: objects confined to one thread although unification merged pointers to them. Layer:
 * analysis.
 * A stack object, a thread-local variable and what is reachable from these alone is confined unless a pointer to it
 * is stored in memory that other threads may read, or passed to a thread that is started. Calls through pointers
 * unify what is passed to one target, so being accessed by several threads does not show that an object escapes. */
#ifndef DH_ANALYSIS_THREAD_ESCAPE_H
#define DH_ANALYSIS_THREAD_ESCAPE_H

#include "analysis/points_to_unify.h"

/* By node: 1 = all its objects are confined to the thread that uses them. The caller frees. */
uint8_t *dh_find_thread_confined(struct dh_points_to *s);

#endif
