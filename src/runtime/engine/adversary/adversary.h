/* Adversarial memory (004): loads at chosen places get any value that a memory model allows; a heuristic, the strategy
 * or a witness picks one. Layer: runtime, over memory/model.h. While the task makes its load, memory holds the picked
 * value, afterwards the newest again; what it stores is taken back and given to the model, which stores it in time. */
#ifndef DH_RUNTIME_ENGINE_ADVERSARY_ADVERSARY_H
#define DH_RUNTIME_ENGINE_ADVERSARY_ADVERSARY_H

#include "runtime/engine/engine.h"

/* For the fast path of most accesses; NULL: no adversary. */
extern struct dh_adversary_bounds {
    uintptr_t low, high; /* the model knows no memory outside */
    bool access_pending; /* dh_adversary_after must be called */
} *dh_adversary_bounds;

/* Without a model in the job all of this does nothing. */
bool dh_adversary_init(void);
void dh_adversary_begin(void);
static inline bool dh_adversary_is_on(void)
{
    return dh_adversary_bounds;
}
/* May an invisible access concern the model? */
static inline bool dh_adversary_is_near(const struct dh_step *s)
{
    const struct dh_adversary_bounds *a = dh_adversary_bounds;
    return a && ((s->object < a->high && s->object + s->size > a->low) ||
                 (s->flags & DH_STEP_RANGE && s->second < a->high && s->second + s->size > a->low));
}

/* Is the step a load or update at an adversarial place? */
bool dh_adversary_serves(const struct dh_step *s);
/* Alternatives of its step: a bit per candidate value. */
uint32_t dh_adversary_alternatives(const struct dh_task *t);
/* Which candidate the heuristic picks. */
uint32_t dh_adversary_pick(uint32_t task, const struct dh_step *s);
/* Is this access, at a visible place, in the sample that becomes steps? */
bool dh_adversary_samples(const struct dh_step *s);

/* Before the current task parks at this access: a store that will be buffered is marked, and an access that must not
 * overtake buffered stores flushes them first. */
void dh_adversary_prepare(struct dh_step *s);
/* The same for synchronisation, fences and invisible accesses. */
void dh_adversary_flush(const struct dh_step *s);
/* A library is about to access memory directly. */
void dh_adversary_before_library(const void *at, size_t size);

/* Around the access that the current task makes; `s` may be invisible. */
void dh_adversary_before(const struct dh_step *s, uint32_t alternative);
void dh_adversary_after(void);
/* The latest access was invisible and concerns the model: not all its values are tried. */
void dh_adversary_access_unscheduled(void);
/* Did the latest access read a stale value? */
bool dh_adversary_was_stale(void);
/* A step was executed that may synchronise. */
void dh_adversary_executed(uint32_t task, const struct dh_step *s);
/* Memory that was allocated or freed has no history. */
void dh_adversary_forget(uintptr_t at, size_t size);

/* How many stale reads the schedule had; the first of them into `out`. */
uint32_t dh_adversary_stale(struct dh_engine_stale_read out[DH_ENGINE_STALE_READS]);
/* Future writes that loads of this schedule read. */
uint32_t dh_adversary_foreseen(struct dh_engine_foreseen out[DH_ENGINE_FORESEEN]);
/* The schedule is over: counts, and cuts it if a future write did not come. */
void dh_adversary_end(void);
/* The strategy is exhausted: does the model know more future writes now, so that another pass is worth it? */
bool dh_adversary_next_pass(void);

#endif
