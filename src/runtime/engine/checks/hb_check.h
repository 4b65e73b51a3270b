/* Happens-before race check of invisible accesses. Layer: runtime, over search/schedule_races.h. An unordered pair is
 * recorded and, if the job says so, its places become visible, and the strategy is restarted. In KEEP memory. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_HB_CHECK_H
#define DH_RUNTIME_ENGINE_CHECKS_HB_CHECK_H

#include "runtime/engine/engine.h"

bool dh_hb_check_init(void);
/* Another task runs, or its clock changes: nothing is known of its accesses (search/shadow_known.h). */
static inline void dh_hb_check_forget_self(struct dh_engine *e)
{
    if (e->known)
        e->known->self = 0;
}
void dh_hb_check_begin(void);
/* The current task's next access, which is invisible. */
void dh_hb_check_access(const struct dh_step *step);
/* The chosen step was executed: called before the task does anything else, at the latest when it parks. */
void dh_hb_check_executed(void);
void dh_hb_check_fence(const struct dh_step *fence);
void dh_hb_check_forget(uintptr_t at, size_t size);
/* The kernel may give these addresses away again: what is accessed there from now on is other memory. */
void dh_hb_check_unmapped(uintptr_t at, size_t size);
/* The place is to become visible, before any more schedules. */
void dh_hb_check_extend_at_once(uint32_t place);
bool dh_hb_check_must_extend(void);
/* Which places access memory that several threads access, from now on, in all schedules that are checked; NULL: no
 * order is checked. */
uint8_t *dh_hb_check_note_shared(void);
/* Between schedules: makes places visible; false: there are none. */
bool dh_hb_check_extend_visible(void);
/* Are there such places? */
bool dh_hb_check_has_extensions(void);
void dh_hb_check_forget_extensions(void);

#endif
