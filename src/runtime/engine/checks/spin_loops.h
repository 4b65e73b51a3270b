/* Spin-loop detection. Layer: runtime. A task that reads the same value at the same place again, without having written
 * and by the same path, spins: its step yields, so that fair strategies run others. A loop that accesses other memory
 * each time computes. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_SPIN_LOOPS_H
#define DH_RUNTIME_ENGINE_CHECKS_SPIN_LOOPS_H

#include "base/hash.h"
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
    t->path_hash = dh_hash_multiply(t->path_hash ^ address ^ (uint64_t)place << 32);
    if (writes)
        dh_spin_loops_wrote(t, address);
}
bool dh_spin_loops_at_sync(struct dh_task *t, const struct dh_step *step);

#endif
