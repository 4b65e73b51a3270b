/* Objects that no other thread can get at although pointers to them meet in one place of the graph. Layer: analysis.
 * A stack object, a variable of thread-local storage and what hangs on these alone is its thread's own unless a pointer
 * to it lies in memory that others may read, or is given to a thread that is started. Calls through pointers unite what
 * is passed to one target, so sharing alone does not tell. */
#ifndef DH_ANALYSIS_THREAD_ESCAPE_H
#define DH_ANALYSIS_THREAD_ESCAPE_H

#include "analysis/points_to_unify.h"

/* By node: 1 = all it stands for is confined to the thread that uses it. The caller frees. */
uint8_t *dh_find_thread_confined(struct dh_points_to *s);

#endif
