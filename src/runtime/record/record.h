/* The recorder: what happens in this process, as events for the tool (event/stream.h). Layer: runtime. Any thread,
 * signal handlers, after fork. Everything here does nothing in a process and thread that is not recorded. A thread that
 * is ahead of the reader waits, never while it holds a lock of ours; when the reader is gone, recording ends. errno
 * stays as it was. */
#ifndef DH_RUNTIME_RECORD_RECORD_H
#define DH_RUNTIME_RECORD_RECORD_H

#include "event/event.h"
#include "runtime/core/thread_state.h"

#include <stdbool.h>
#include <stddef.h>

struct dh_thread;

/* This process records. */
extern bool dh_record_on;

/* The process is about to end. */
/* A library joined, or was loaded. Asks the dynamic linker. */
void dh_record_modules(void);

/* An event that has a place in the order of the process: to be called after what acquires and before what releases
 * takes effect. `call_slot` says from where (NULL: not known). */
void dh_record_event(enum dh_event_kind kind, unsigned flags, const void *addr, uint64_t arg,
                     const uintptr_t *call_slot);
/* The same with a place that is known. */
void dh_record_event_at(enum dh_event_kind kind, unsigned flags, uintptr_t addr, uint64_t arg, uint32_t place);
/* An access; `flags` of dh_event_flag. Larger ones than a record holds are recorded in pieces. */
void dh_record_access(uintptr_t addr, size_t size, bool write, uint32_t place);
/* An activation of a function begins or ends (DH_EVENT_ENTER, DH_EVENT_LEAVE); `object`: its first pointer argument or
 * NULL. */
void dh_record_scope(enum dh_event_kind kind, const void *object, uint32_t place);

/* Two accesses met: one of the calling thread's and one of another's. */
struct dh_record_met {
    uintptr_t addr;
    uint32_t size, place, context, thread;
    bool write;
};
void dh_record_collision(const struct dh_record_met *mine, const struct dh_record_met *other);

void dh_record_allocated(const void *at, size_t size, enum dh_event_region region, const uintptr_t *call_slot);
void dh_record_freed(const void *at, size_t size, enum dh_event_region region, const uintptr_t *call_slot);

/* The name of a thread, for the reader; and that the calling thread created it. */
void dh_record_thread_created(const struct dh_thread *t);
/* For a fiber, whose index is in `tls`: a state to be parked there, or NULL; and its end. */
struct dh_record_state *dh_record_state_new(struct dh_thread_state *tls);
void dh_record_state_end(struct dh_record_state *s);
/* The calling thread goes on as `s`; NULL: it is not recorded. */
void dh_record_become(struct dh_record_state *s);

#endif
