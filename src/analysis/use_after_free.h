/* Accesses that may come after the end of their object's lifetime: freed, or on the stack or in the thread-local
 * storage of a thread that has ended. Layer: analysis. Within one thread by control flow, callees and started threads
 * included; unordered frees by other threads are conflicts (races.h). */
#ifndef DH_ANALYSIS_USE_AFTER_FREE_H
#define DH_ANALYSIS_USE_AFTER_FREE_H

#include "analysis/symex.h"

enum dh_lifetime_hazard {
    DH_HAZARD_FREED = 1 << 0,          /* its object may have been freed */
    DH_HAZARD_THREAD_ENDED = 1 << 2,   /* its object may have ended with a thread */
    DH_HAZARD_UNKNOWN_POINTER = 1 << 1 /* nothing is known to have stored the pointer where it was loaded from */
};

/* By instruction, bits of dh_lifetime_hazard. `ending`: by function, 1 = runs in threads that end before the process
 * does. Owned by the caller. */
uint8_t *dh_use_after_free_find(struct dh_symex *w, const uint8_t *ending);

#endif
