/* Threads that wait for themselves: a lock taken again by who holds it, a join of who needs a lock that is held. Layer:
 * analysis. Needs a finished walk; adds to what dh_deadlocks_find found. */
#ifndef DH_ANALYSIS_SELF_DEADLOCK_H
#define DH_ANALYSIS_SELF_DEADLOCK_H

#include "analysis/deadlock.h"

void dh_self_deadlocks_find(struct dh_deadlocks *d, const struct dh_symex *w);

#endif
