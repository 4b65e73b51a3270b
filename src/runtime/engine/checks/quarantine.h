/* Quarantine: memory freed in this schedule is not reused, so that a later access is a use after free. Layer: runtime.
 * In KEEP memory, sorted by address. */
#ifndef DH_RUNTIME_ENGINE_CHECKS_QUARANTINE_H
#define DH_RUNTIME_ENGINE_CHECKS_QUARANTINE_H

#include "runtime/engine/engine.h"

/* Most accesses lie outside of the bounds, or in lines of 512 bytes of which nothing was freed. */
enum { DH_QUARANTINE_LINE_SHIFT = 9, DH_QUARANTINE_LINES = 1 << 17 };
struct dh_quarantine_filter {
    uintptr_t low, high;
    uint64_t lines[DH_QUARANTINE_LINES / 64]; /* a bit each, by the lowest bits of their numbers */
};

static inline bool dh_quarantine_is_line(const struct dh_quarantine_filter *f, uintptr_t at)
{
    uintptr_t line = (at >> DH_QUARANTINE_LINE_SHIFT) % DH_QUARANTINE_LINES;
    return f->lines[line / 64] >> line % 64 & 1;
}

/* False: no byte of it was freed. */
static inline bool dh_quarantine_may_hold(const struct dh_quarantine_filter *f, uintptr_t at, size_t size)
{
    if (at >= f->high || at + size <= f->low)
        return false;
    return size > 1u << DH_QUARANTINE_LINE_SHIFT || dh_quarantine_is_line(f, at) ||
           dh_quarantine_is_line(f, at + size - 1);
}

bool dh_quarantine_init(void);
void dh_quarantine_begin(void);
/* Schedules begin here, in the middle of a run. */
void dh_quarantine_begin_here(void);
/* Instead of the real free; false: the quarantine is full, call that. A double free ends the schedule. */
bool dh_quarantine_free(void *at);
/* The stack and the thread-local variables of a task, before and after its step `end`; and of a new task that may reuse
 * them. */
void dh_quarantine_task_ends(const struct dh_task *t);
void dh_quarantine_task_ended(const struct dh_task *t);
void dh_quarantine_task_begins(const struct dh_task *t);
/* New memory has no history. */
void dh_quarantine_allocated(const void *at, size_t size);
/* Before an access of the current task: a use after free ends the schedule. */
void dh_quarantine_check_access(uintptr_t at, size_t size);

#endif
