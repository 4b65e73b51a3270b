/* Joins implied by the destructor of std::thread. Layer: analysis.
 * Destroying a joinable std::thread terminates the program. So after the destructor of a local std::thread, or of a
 * local vector of them, all threads started through it have ended, however they were joined; provided that the
 * program detaches no thread and moves none out of its object. */
#ifndef DH_ANALYSIS_STD_THREAD_LIFETIME_H
#define DH_ANALYSIS_STD_THREAD_LIFETIME_H

#include "analysis/join_loops.h"

/* Adds points to `j`. */
void dh_std_thread_find_joins(struct dh_joins *j, struct dh_value_numbering *x);

#endif
