/* Thread coexistence: which kinds of threads can exist in one run. Layer: analysis. Threads that only different
 * branches of their creator start never coexist, as in a program that does one of several things by its arguments. */
#ifndef DH_ANALYSIS_THREAD_COEXISTENCE_H
#define DH_ANALYSIS_THREAD_COEXISTENCE_H

#include "analysis/symex.h"

struct dh_coexistence {
    dh_thread_set with[DH_ABSTRACT_THREADS_MAX]; /* by thread: others that may exist in the same run */
};

/* Needs the threads of symbolic execution. */
void dh_coexistence_find(struct dh_coexistence *t, struct dh_symex *w);

#endif
