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

struct dh_atomic_op;
struct dh_thread;

/* This process records. */
extern bool dh_record_on;

/* Where it is asked for often: nothing is called in a thread that is not recorded. */
#define DH_RECORDED(call)                                                                                              \
    do {                                                                                                               \
        if (__builtin_expect(__dh_thread.record != NULL, 0))                                                           \
            call;                                                                                                      \
    } while (0)

/* Begins if the option `stream` asks for it, with the calling thread as the first. */
void dh_record_start(void);
/* In the child: with a file of its own. */
void dh_record_forked(void);
/* The process is about to end. */
void dh_record_finish(void);
/* A library joined, or was loaded. Asks the dynamic linker. */
void dh_record_modules(void);

/* An event that has a place in the order of the process: to be called after what takes and before what gives takes
 * effect. `call_slot` says from where (NULL: not known). */
void dh_record_event(enum dh_event_kind kind, unsigned flags, const void *addr, uint64_t arg,
                     const uintptr_t *call_slot);
/* The same with a place that is known. */
void dh_record_event_at(enum dh_event_kind kind, unsigned flags, uintptr_t addr, uint64_t arg, uint32_t place);
/* An access; `flags` of dh_event_flag. Larger ones than a record takes are told in pieces. */
void dh_record_access(uintptr_t addr, size_t size, bool write, uint32_t place);
void dh_record_library_access(const void *at, size_t size, bool write, const uintptr_t *call_slot);
/* An activation of a function begins and ends; `object` is its first pointer argument or NULL. */
void dh_record_scope_enter(const void *object, uint32_t place);
void dh_record_scope_leave(uint32_t place);

/* Two accesses met: one of the calling thread's and one of another's. */
struct dh_record_met {
    uintptr_t addr;
    uint32_t size, place, context, thread;
    bool write;
};
void dh_record_collision(const struct dh_record_met *mine, const struct dh_record_met *other);

/* Locks: with what the thread holds, so that recursion is told. `mode`: dh_lock_mode. */
void dh_record_taken(const void *lock, unsigned mode, const uintptr_t *call_slot);
void dh_record_given(const void *lock, unsigned mode, const uintptr_t *call_slot);
/* Depth of recursion; *unlisted: it holds more than are listed. */
unsigned dh_record_held(const void *lock, bool *unlisted);

void dh_record_allocated(const void *at, size_t size, enum dh_event_region region, const uintptr_t *call_slot);
void dh_record_freed(const void *at, size_t size, enum dh_event_region region, const uintptr_t *call_slot);

/* Around an atomic operation, which is then in the order of the events. */
void dh_record_atomic_enter(struct dh_atomic_op *op);
void dh_record_atomic_leave(struct dh_atomic_op *op, bool wrote);
/* As dh_atomic_known. */
const _Atomic uint64_t *dh_record_atomic_known(const void *addr, uint32_t what, uint64_t *version);

/* Threads: the calling one begins and ends being recorded. */
void dh_record_thread_created(const struct dh_thread *t);
void dh_record_thread_begin(void);
void dh_record_thread_end(void);
/* The name of a thread changed. */
void dh_record_thread_named(const struct dh_thread *t);
/* For a fiber, whose index is in `tls`: a state to be parked there, or NULL; and its end. */
struct dh_record_state *dh_record_state_new(struct dh_thread_state *tls);
void dh_record_state_end(struct dh_record_state *s);
/* The calling thread goes on as `s`, or as nobody. */
void dh_record_become(struct dh_record_state *s);

/* Part of what the thread does is left out; `what`: dh_ignored. Nest. */
void dh_record_ignore_begin(unsigned what);
void dh_record_ignore_end(unsigned what);

#endif
