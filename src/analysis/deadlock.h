/* Deadlocks that some order of threads may bring: circles of locks, waits that hold what the signaller needs, waits
 * that nobody ends (003 ch. 6). Layer: analysis. Needs a finished walk. Beyond the thesis: locks that keep two requests
 * apart (gates), locks of one kind told apart by the order the program keeps among them, threads that never meet. */
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
    /* Events of the walk. Mutual: each wants what the next one holds, the last what the first one holds. Critical: the
     * wait, then who else takes what it holds. Indefinite: the wait. Again: the request. Join: the join, then the
     * request of who is to end. */
    uint32_t events[DH_DEADLOCK_LONGEST];
    uint32_t held; /* critical, again, join: in symex.held, what the thread holds that waits */
};

struct dh_deadlocks {
    DH_VEC(struct dh_deadlock) all;
    bool incomplete; /* a bound was met */
};

void dh_deadlocks_find(struct dh_deadlocks *d, const struct dh_symex *w);
void dh_deadlocks_release(struct dh_deadlocks *d);

#endif
