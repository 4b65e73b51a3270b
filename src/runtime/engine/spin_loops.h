/* Threads that spin give way. Layer: runtime. A task that reads what it read before, from the same place, without
 * having changed anything meanwhile, cannot get on by itself; one that accesses something else on its way each time
 * does not wait but computes. */
#ifndef DH_RUNTIME_ENGINE_SPIN_LOOPS_H
#define DH_RUNTIME_ENGINE_SPIN_LOOPS_H

#include "runtime/engine/engine.h"

/* Of the step at which the task parks: does it give way? */
bool dh_spin_loops_at_access(struct dh_task *t, const struct dh_step *step);
/* It wrote something that others may see, without parking: it gets on. */
void dh_spin_loops_wrote(struct dh_task *t, uintptr_t address);
/* It accessed something without parking. */
static inline void dh_spin_loops_passed(struct dh_task *t, uintptr_t address, uint32_t place, bool writes)
{
    if (!t->spins)
        return;
    t->path = (t->path ^ address ^ (uint64_t)place << 32) * 0x9e3779b97f4a7c15u;
    if (writes)
        dh_spin_loops_wrote(t, address);
}
bool dh_spin_loops_at_sync(struct dh_task *t, const struct dh_step *step);

#endif
