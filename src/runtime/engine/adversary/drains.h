/* Store buffers of a memory model as actors: a store that waits and could leave is the step of an actor of its own,
 * which the strategy chooses like a thread. Layer: runtime, over memory/model.h. There is one for each thread and
 * address that had a store in the schedule, numbered behind all threads there can be; in traces a drain is a step of
 * the thread that stored. Without a model that has buffers all of this does nothing. */
#ifndef DH_RUNTIME_ENGINE_ADVERSARY_DRAINS_H
#define DH_RUNTIME_ENGINE_ADVERSARY_DRAINS_H

#include "memory/model.h"
#include "runtime/engine/engine.h"

/* `threads`: so many there can be. */
bool dh_drains_init(const struct dh_memory_model *model, void *self, struct dh_memory *memory);
void dh_drains_begin(void);
/* Something was stored, or memory is gone: who can leave now? */
void dh_drains_update(void);

static inline bool dh_drains_is_actor(const struct dh_engine *e, uint32_t actor)
{
    return actor - e->drains_from < e->n_drains;
}
/* Takes the store of this actor to memory. */
void dh_drains_step(uint32_t actor);
/* Which of the stores of its thread, place and occurrence: those of one wide access leave in pieces. */
uint16_t dh_drains_piece(uint32_t actor);
/* The actor of a decision; UINT32_MAX: nothing like it waits. */
uint32_t dh_drains_actor(const struct dh_engine_decision *d, const struct dh_moment *m);
/* Any store of the thread; UINT32_MAX: none waits. */
uint32_t dh_drains_any_of(uint32_t thread);

/* The current task waits, as a step of its own, until its buffer is empty. Place 0: where it was last. */
void dh_drains_flush(uint32_t place);

#endif
