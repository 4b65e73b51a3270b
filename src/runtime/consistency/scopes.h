/* The object consistency detector (003 §7.2) in the checked program: the scope (detect/consistency.h) that the calling
 * thread is in, and how synchronisation splits and closes it. Layer: runtime; constants also compiled into the inline
 * checks. No effect in threads without a scope state. Any thread, signal handlers, after fork. */
#ifndef DH_RUNTIME_CONSISTENCY_SCOPES_H
#define DH_RUNTIME_CONSISTENCY_SCOPES_H

#include "detect/consistency.h"
#include "runtime/core/thread_state.h"

/* Address of the cells: below the tables of the race detector. */
#define DH_SCOPES_CELLS_AT ((uintptr_t)0x2bf000000000)

static inline uint64_t *dh_scopes_cells(void)
{
    return (uint64_t *)DH_SCOPES_CELLS_AT;
}

void dh_scopes_thread_start(void);
void dh_scopes_thread_exit(void);

/* An acquire: what the thread does from here on may be ordered after other threads' accesses. */
static inline void dh_scopes_sync_acquire(void)
{
    if (__dh_thread.scope_thread)
        dh_scope_split(__dh_thread.scope_thread);
}

/* A release: what other threads do from here on may be ordered after this thread's accesses. */
static inline void dh_scopes_sync_release(void)
{
    if (__dh_thread.scope_thread)
        dh_scope_close(__dh_thread.scope_thread);
}

/* An atomic variable that was not changed since the thread acquired it orders nothing new. Around every operation that
 * may change one: */
void dh_scopes_atomic_begin_change(uintptr_t addr);
void dh_scopes_atomic_end_change(uintptr_t addr);
/* Was the value acquired before? `version` is what dh_scopes_atomic_version returned before the load. */
uint64_t dh_scopes_atomic_version(uintptr_t addr);
bool dh_scopes_atomic_is_known(uintptr_t addr, uint64_t version, uint64_t value);
/* After an acquire load. */
void dh_scopes_atomic_learn(uintptr_t addr, uint64_t version, uint64_t value);
extern bool dh_scopes_on;

/* A lock that no other thread held in between orders nothing. */
void dh_scopes_lock_acquired(const void *lock);
void dh_scopes_lock_released(const void *lock);
/* The thread gets memory that other threads may have used. */
void dh_scopes_forget_memory(const void *at, size_t size);
/* An access of any size, for example of a library function for its caller. */
void dh_scopes_access(uintptr_t addr, size_t size, bool write, uint32_t place);

/* The same, for the inline checks. */
void __dh_scope_range(uintptr_t addr, size_t size, uint32_t write, uint32_t place);

/* What the inline checks cannot decide; what = size | write << 8. Preserves all registers. */
void dh_scopes_complete(uintptr_t addr, uint32_t what, uint32_t place);

#endif
