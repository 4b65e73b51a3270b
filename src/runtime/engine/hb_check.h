/* Races by happens-before among accesses that are not visible. Layer: runtime, over search/hb.h. A pair that nothing
 * orders is told as such and, if the job says so, becomes visible; the strategy then begins anew. */
#ifndef DH_RUNTIME_ENGINE_HB_CHECK_H
#define DH_RUNTIME_ENGINE_HB_CHECK_H

#include "runtime/engine/engine.h"

bool dh_hb_check_init(void);
void dh_hb_check_begin(void);
/* The current task's next access, not visible. */
void dh_hb_check_access(const struct dh_step *step);
/* The step that was chosen last is executed; told before anything else happens, and at the latest when it parks. */
void dh_hb_check_executed(void);
void dh_hb_check_fence(const struct dh_step *fence);
void dh_hb_check_forget(uintptr_t at, size_t size);
/* Between schedules: were places made visible? */
bool dh_hb_check_extend_visible(void);

#endif
