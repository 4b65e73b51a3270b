/* The life of a task, a thread of the program under the engine. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_TASKS_TASK_H
#define DH_RUNTIME_ENGINE_TASKS_TASK_H

#include "runtime/engine/engine.h"

/* Its stack, reused by the task of the same index in later schedules; false: no memory. */
bool dh_task_allocate_stack(struct dh_task *t);
/* Its whole life, on its own stack; with coroutines it does not return. */
void dh_task_run(struct dh_task *t);
/* Destructors, the step `end`, and no more. */
void dh_task_finish(struct dh_task *t);
/* By pthread_t; NULL: none. */
struct dh_task *dh_task_find_by_handle(uintptr_t handle);
/* A cancellation point: does not return if the calling task was cancelled. */
void dh_task_cancel_point(void);
/* A cancellation is pending and enabled. */
bool dh_task_is_cancelled(const struct dh_task *t);

#endif
