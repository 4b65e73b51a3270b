/* Memory that the program gave back in this schedule. Layer: runtime. It is kept from being used again, so that whoever
 * touches it still is found out. */
#ifndef DH_RUNTIME_ENGINE_QUARANTINE_H
#define DH_RUNTIME_ENGINE_QUARANTINE_H

#include "runtime/engine/engine.h"

bool dh_quarantine_init(void);
void dh_quarantine_begin(void);
/* Instead of the real free; false: that one has to do it. Ends the schedule if it was free already. */
bool dh_quarantine_free(void *at);
/* The stack and the thread-local variables of a task, before and after its end; and of one that begins, where another's
 * may have been.
 */
void dh_quarantine_task_ends(const struct dh_task *t);
void dh_quarantine_task_ended(const struct dh_task *t);
void dh_quarantine_task_begins(const struct dh_task *t);
/* New memory has no past. */
void dh_quarantine_allocated(const void *at, size_t size);
/* About to be accessed by the current task: ends the schedule if it is free. */
void dh_quarantine_check_access(uintptr_t at, size_t size);

#endif
