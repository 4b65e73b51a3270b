/* Stacks and locks of accesses, for findings. A pair of accesses that nothing orders is reported when the second one is
 * made: by then the thread of the first has gone on. So a replay (DH_ENGINE_CONTEXTS) keeps the stack and the locks of
 * each access at the two places of its target, and of every thread the locks that it holds. Layer: runtime; KEEP
 * memory. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_ACCESS_CONTEXTS_H
#define DH_RUNTIME_ENGINE_CHECKS_ACCESS_CONTEXTS_H

#include "runtime/engine/engine.h"

/* False: no memory. */
bool dh_access_contexts_init(void);
/* The thread is about to execute this step, for which it is parked. */
void dh_access_contexts_begin_step(uint32_t thread, const struct dh_step *step);
/* The current task's access, which is no step. */
void dh_access_contexts_note(const struct dh_step *access);
/* Sets the callers of an unordered pair, and the locks of any pair. */
void dh_access_contexts_fill(struct dh_engine_found *f);

#endif
