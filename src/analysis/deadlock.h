/* Static deadlock detection (003 ch. 6): cycles of the lock order graph, waits that hold what the signaller needs,
 * waits that nothing signals. Layer: analysis. Needs the events of symbolic execution. Beyond the thesis: gate locks,
 * locks of one kind that the program acquires in an order, threads that never run in parallel. */
#ifndef DH_ANALYSIS_DEADLOCK_H
#define DH_ANALYSIS_DEADLOCK_H

#include "analysis/symex.h"

enum dh_deadlock_kind {
    DH_DEADLOCK_MUTUAL,
    DH_DEADLOCK_CRITICAL,
    DH_DEADLOCK_INDEFINITE,
    DH_DEADLOCK_SELF,
    DH_DEADLOCK_JOIN
};

#define DH_DEADLOCK_LONGEST 4

struct dh_deadlock {
    enum dh_deadlock_kind kind;
    uint32_t n;
    /* Mutual: each requests what the next one holds, the last what the first one holds. Critical: the wait, then a
     * request of what it holds. Indefinite: the wait. Self: the request. Join: the join, then the request of the thread
     * that is joined. */
    uint32_t events[DH_DEADLOCK_LONGEST];
    uint32_t held; /* critical, self, join: in symex.held, what the waiting thread holds */
};

struct dh_deadlocks {
    DH_VEC(struct dh_deadlock) all;
    bool incomplete; /* a bound was met */
};

void dh_deadlocks_find(struct dh_deadlocks *d, const struct dh_symex *w);
void dh_deadlocks_release(struct dh_deadlocks *d);

#endif
