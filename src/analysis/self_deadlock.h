/* Self-deadlocks: a thread acquires a lock that it holds, or joins a thread that needs a lock it holds. Layer:
 * analysis. Needs the events of symbolic execution; adds to what dh_deadlocks_find found. */
#ifndef DH_ANALYSIS_SELF_DEADLOCK_H
#define DH_ANALYSIS_SELF_DEADLOCK_H

#include "analysis/deadlock.h"

void dh_self_deadlocks_find(struct dh_deadlocks *d, const struct dh_symex *w);

#endif
