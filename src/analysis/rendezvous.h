/* Barriers made by hand of a lock, a count and a condition. Layer: analysis. By custom: who completes the count wakes
 * all others, who does not waits. */
#ifndef DH_ANALYSIS_RENDEZVOUS_H
#define DH_ANALYSIS_RENDEZVOUS_H

#include "analysis/walk_internal.h"

/* Callees' facts must be known. */
bool dh_rendezvous(struct dh_walk *w, uint32_t function);

#endif
