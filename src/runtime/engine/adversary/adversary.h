/* Adversarial memory: loads at chosen places answer any value that a memory model allows, of which a heuristic, the
 * strategy or a witness picks one. Layer: runtime, over memory/model.h. While the one thread that runs makes its load,
 * memory holds the value that was picked, and afterwards the newest again: nobody else can look in between. In the same
 * way what a thread stored is taken back and told to the model, which stores it when it is time. */
#ifndef DH_RUNTIME_ENGINE_ADVERSARY_ADVERSARY_H
#define DH_RUNTIME_ENGINE_ADVERSARY_ADVERSARY_H

#include "runtime/engine/engine.h"

/* For the way past it that most accesses take; NULL: there is none. */
extern struct dh_adversary_bounds {
    uintptr_t low, high; /* what the model knows of lies in between */
    bool making;         /* an access is being made that it must be told of */
} *dh_adversary_bounds;

/* Without a model in the job there is none, and all of this does nothing. */
bool dh_adversary_init(void);
void dh_adversary_begin(void);
static inline bool dh_adversary_is_on(void)
{
    return dh_adversary_bounds;
}
/* Might an access that is not visible matter to the model? */
static inline bool dh_adversary_is_near(const struct dh_step *s)
{
    const struct dh_adversary_bounds *a = dh_adversary_bounds;
    return a && ((s->object < a->high && s->object + s->size > a->low) ||
                 (s->flags & DH_STEP_RANGE && s->second < a->high && s->second + s->size > a->low));
}

/* Is the step a load with a choice of values? */
bool dh_adversary_serves(const struct dh_step *s);
/* For look(): a bit per value. */
uint32_t dh_adversary_alternatives(const struct dh_task *t);
/* Which value the task is to get, by the heuristic. */
uint32_t dh_adversary_pick(uint32_t task, const struct dh_step *s);
/* Is this access of the current task, at a visible place, one of those that are steps? */
bool dh_adversary_samples(const struct dh_step *s);

/* The current task is about to park at this access: a store that will wait in a buffer is marked so, and what must not
 * pass those that wait lets them leave first. */
void dh_adversary_prepare(struct dh_step *s);
/* The same for what is no visible access: synchronisation, fences, accesses that are not visible. */
void dh_adversary_flush(const struct dh_step *s);
/* A library is about to access these bytes, as they are in memory. */
void dh_adversary_before_library(const void *at, size_t size);

/* Around the access that the current task makes now; `s` may be one that is not visible. */
void dh_adversary_before(const struct dh_step *s, uint32_t alternative);
void dh_adversary_after(void);
/* The last access that is no step was one that the model has a say in. */
void dh_adversary_access_unscheduled(void);
/* Did the last access read something else than the newest? */
bool dh_adversary_was_stale(void);
/* A step of the task was executed that may order what it does. */
void dh_adversary_executed(uint32_t task, const struct dh_step *s);
/* Memory that is new or free has no past. */
void dh_adversary_forget(uintptr_t at, size_t size);

/* Loads of this schedule that did not get the newest value; the first of them into `out`. */
uint32_t dh_adversary_stale(struct dh_engine_stale_read out[DH_ENGINE_STALE_READS]);
/* Writes that loads of this schedule took before their time. */
uint32_t dh_adversary_foreseen(struct dh_engine_foreseen out[DH_ENGINE_FORESEEN]);
/* The schedule is over: counts, and says if it did not happen. */
void dh_adversary_end(void);
/* The strategy has tried all: does the model know more now, so that it is worth beginning anew? */
bool dh_adversary_next_pass(void);

#endif
