/* Spin-loop detection. Layer: runtime. A task that reads the same value at the same place again, without having written
 * and by the same path, spins: its step yields, so that fair strategies run others. A loop that accesses other memory
 * each time computes. */
#ifndef DH_RUNTIME_ENGINE_SPIN_LOOPS_H
#define DH_RUNTIME_ENGINE_SPIN_LOOPS_H

#include "runtime/engine/engine.h"

/* Of the step at which the task parks: does it yield? */
bool dh_spin_loops_at_access(struct dh_task *t, const struct dh_step *step);
/* An invisible write that others may see: it does not spin. */
void dh_spin_loops_wrote(struct dh_task *t, uintptr_t address);
/* An invisible access. */
static inline void dh_spin_loops_passed(struct dh_task *t, uintptr_t address, uint32_t place, bool writes)
{
    if (!t->may_spin)
        return;
    t->path_hash = (t->path_hash ^ address ^ (uint64_t)place << 32) * 0x9e3779b97f4a7c15u;
    if (writes)
        dh_spin_loops_wrote(t, address);
}
bool dh_spin_loops_at_sync(struct dh_task *t, const struct dh_step *step);

#endif
