/* Tasks: threads of the program as the engine sees them. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_TASK_H
#define DH_RUNTIME_ENGINE_TASK_H

#include "runtime/engine/engine.h"

/* A stack for it, kept from schedule to schedule; false: no memory. */
bool dh_task_allocate_stack(struct dh_task *t);
/* Its whole life, on its own stack; does not return with coroutines. */
void dh_task_run(struct dh_task *t);
/* The last part of it: destructors, and the end itself. */
void dh_task_finish(struct dh_task *t);
/* By pthread_t; NULL: none that is not joined yet. */
struct dh_task *dh_task_find_by_handle(uintptr_t handle);
/* May the calling task act on a cancellation now? Then it does, and this does not return. */
void dh_task_cancel_point(void);
/* Was it cancelled, and does it heed that? */
bool dh_task_is_cancelled(const struct dh_task *t);

#endif
