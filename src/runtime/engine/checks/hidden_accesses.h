/* Plain accesses at places that are not visible, in a search that asks for nothing but what is visible: they do
 * nothing, and the calls of their hooks are removed. Layer: runtime. A thread that waits for another one in a loop of
 * such accesses would wait for ever: when one made no step for long its accesses are looked at for a moment, and places
 * where it reads what does not change become visible. Who computes goes on. A search that checks the order of accesses
 * hides only what no two threads were seen to access. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_HIDDEN_ACCESSES_H
#define DH_RUNTIME_ENGINE_CHECKS_HIDDEN_ACCESSES_H

#include "runtime/engine/engine.h"

/* When the carrier is known. */
void dh_hidden_accesses_begin(void);
/* Before a schedule: where order is checked, the first ones and some of the others are checked in full. */
void dh_hidden_accesses_next(void);
/* At a crash or the like: is it not known at which access it was, since some were left out? From then on none are. */
bool dh_hidden_accesses_hide_failure(void);
/* From here on all accesses count again: a replay whose decisions are over. */
void dh_hidden_accesses_end(void);
/* The current task made no step for so long, of the processor's time. In the handler of a signal. */
void dh_hidden_accesses_tick(uint64_t still_ns, uint64_t limit_ns);
/* One that is looked at. */
void dh_hidden_accesses_sample(const void *addr, size_t size, bool writes, uint32_t place);

static inline bool dh_hidden_accesses_at(const struct dh_engine *e, uint32_t place)
{
    return e->hides && place < e->n_visible && !e->visible[place] && !(e->shared && (e->is_full || e->shared[place]));
}

#endif
