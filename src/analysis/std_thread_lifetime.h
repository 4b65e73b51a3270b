/* Threads that have ended because their std::thread was destroyed. Layer: analysis.
 * Destroying a std::thread that was neither joined nor detached ends the program. So behind the destructor of a local
 * std::thread, or of a local vector of them, all threads that were started through it are gone, however they were
 * joined; provided that the program detaches no thread and moves none out of its object. */
#ifndef DH_ANALYSIS_STD_THREAD_LIFETIME_H
#define DH_ANALYSIS_STD_THREAD_LIFETIME_H

#include "analysis/join_loops.h"

/* Adds points to `j`. */
void dh_std_thread_find_joins(struct dh_joins *j, struct dh_value_numbering *x);

#endif
