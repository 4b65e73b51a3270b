/* Where schedules begin. Layer: runtime. When the undisturbed run of the program is long (or slow), a child runs it to
 * see where threads come to visible places; the process itself then goes on undisturbed up to shortly before that, and
 * every schedule is a child that begins there. What children learn comes back in lasting memory (keep.c). */
#ifndef DH_RUNTIME_ENGINE_SCHEDULE_START_POINT_H
#define DH_RUNTIME_ENGINE_SCHEDULE_START_POINT_H

#include "runtime/engine/engine.h"

/* False: no memory. */
bool dh_start_point_init(void);
/* Is there anything to look for: does the job ask for it, and can it be? */
bool dh_start_point_is_wanted(const struct dh_engine *e);
/* In the recorded run, before a step. */
void dh_start_point_note(const struct dh_engine *e, uint32_t task, const struct dh_step *s);
/* Is the recorded run long already, in steps or in time? Only then is it more than a measurement. */
bool dh_start_point_is_long(const struct dh_engine *e);
/* After it: does it have to be recorded with shorter quanta? */
bool dh_start_point_refine(struct dh_engine *e);
/* Visible places to which it came very often, which the job may want to be spared: they are not visible any more.
 * False: there are none. */
bool dh_start_point_spare_busy(struct dh_engine *e);
/* Has it taken enough of the job's time? */
bool dh_start_point_is_late(const struct dh_engine *e);
/* The step to begin at if the tool knows of the recorded run; 0: it does not. */
uint32_t dh_start_point_known(const struct dh_engine *e);
/* When all that is done: time begins anew, but not more than the tool has. */
void dh_start_point_forget_time(struct dh_engine *e);
/* After the recorded run: the step to begin at; 0: the first. */
uint32_t dh_start_point_choose(const struct dh_engine *e);

/* In a child that ends, and in its parent: what the strategy and others know. */
void dh_start_point_hand_over(const struct dh_engine *e);
void dh_start_point_take_over(struct dh_engine *e);

#endif
