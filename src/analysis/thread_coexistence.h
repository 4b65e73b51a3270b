/* Which kinds of threads may be there in one run at all. Layer: analysis. Threads that only different branches of their
 * creator start never meet: a program that does one of several things by its arguments is told apart that way. */
#ifndef DH_ANALYSIS_THREAD_COEXISTENCE_H
#define DH_ANALYSIS_THREAD_COEXISTENCE_H

#include "analysis/symex.h"

struct dh_coexistence {
    dh_thread_set with[DH_ABSTRACT_THREADS_MAX]; /* by thread: others that one run may have, too */
};

/* Needs a finished walk. */
void dh_coexistence_find(struct dh_coexistence *t, struct dh_symex *w);

#endif
