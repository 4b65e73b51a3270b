/* Races by happens-before among accesses that are not visible. Layer: runtime, over search/schedule_races.h. A pair
 * that nothing orders is told as such and, if the job says so, becomes visible; the strategy then begins anew. */
#ifndef DH_RUNTIME_ENGINE_ORDERING_H
#define DH_RUNTIME_ENGINE_ORDERING_H

#include "runtime/engine/engine.h"

bool dh_ordering_init(void);
void dh_ordering_begin(void);
/* The current task's next access, not visible. */
void dh_ordering_access(const struct dh_step *step);
/* The step that was chosen last is executed; told before anything else happens, and at the latest when it parks. */
void dh_ordering_executed(void);
void dh_ordering_fence(const struct dh_step *fence);
void dh_ordering_forget(uintptr_t at, size_t size);
/* Between schedules: were places made visible? */
bool dh_ordering_extended(void);

#endif
