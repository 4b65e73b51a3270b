/* Store buffers of a memory model as actors: a buffered store that can drain is the step of an actor of its own, which
 * the strategy chooses like a thread. Layer: runtime, over memory/model.h. One actor for each thread and address with a
 * store in the schedule, numbered above all possible threads; in traces a drain is a step of the thread that stored.
 * Without a model that has buffers all of this does nothing. */
#ifndef DH_RUNTIME_ENGINE_ADVERSARY_DRAINS_H
#define DH_RUNTIME_ENGINE_ADVERSARY_DRAINS_H

#include "memory/model.h"
#include "runtime/engine/engine.h"

bool dh_drains_init(const struct dh_memory_model *model, void *self, struct dh_memory *memory);
void dh_drains_begin(void);
/* After a store, a drain, or when memory was freed: updates the actors. */
void dh_drains_update(void);

static inline bool dh_drains_is_actor(const struct dh_engine *e, uint32_t actor)
{
    return actor - e->drains_from < e->n_drains;
}
/* Executes the drain of this actor. */
void dh_drains_step(uint32_t actor);
/* Number of the piece: a wide store drains in pieces. */
uint16_t dh_drains_piece(uint32_t actor);
/* The actor of a decision; UINT32_MAX: no such store is buffered. */
uint32_t dh_drains_actor(const struct dh_engine_decision *d, const struct dh_decision *m);
/* The actor of any buffered store of the thread; UINT32_MAX: none. */
uint32_t dh_drains_any_of(uint32_t thread);

/* The step `flush`: the current task waits until its buffer is empty. Place 0: its last place. */
void dh_drains_flush(uint32_t place);

#endif
