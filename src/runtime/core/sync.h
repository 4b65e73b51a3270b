/* What interposed functions tell the detectors. Layer: runtime. Any thread, signal handlers, after fork. Everything
 * here does nothing while no detector runs, in threads that are not known, and within dh_ignore_begin/end, so callers
 * ask nothing first. Objects are named by address; their memory is never touched. errno stays as it was. */
#ifndef DH_RUNTIME_CORE_SYNC_H
#define DH_RUNTIME_CORE_SYNC_H

#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the return address of an interposed function is stored; only in that function itself. */
#define DH_CALL_SLOT ((const uintptr_t *)__builtin_frame_address(0) + 1)

/* ---- happens-before through an object ---- */

/* All that was released to the object so far happens before what follows. */
void dh_sync_acquire(const void *object, enum dh_sync_class c);
/* The object carries my past and nothing else: for what one thread holds alone, as a mutex. */
void dh_sync_release(const void *object, enum dh_sync_class c);
/* The object carries my past beside what it carried: semaphores, pipes, barriers' arrivals. */
void dh_sync_release_join(const void *object, enum dh_sync_class c);
/* Both at once, for what is taken and given in one step. */
void dh_sync_acquire_release(const void *object, enum dh_sync_class c);
/* The object is destroyed or begins anew. */
void dh_sync_forget(const void *object, enum dh_sync_class c);

/* ---- locks: happens-before, and what is held ---- */

enum dh_lock_mode {
    DH_LOCK_EXCLUSIVE = 0,
    DH_LOCK_SHARED = 1 << 0,
    DH_LOCK_TRY = 1 << 1,     /* would not have waited */
    DH_LOCK_TIMED = 1 << 2,   /* would not have waited for ever */
    DH_LOCK_BY_WAIT = 1 << 3, /* given or taken by a condition wait */
};

/* After it was got; `call_slot` says from where (NULL: not known). Recursion is counted. */
void dh_lock_taken(const void *lock, unsigned mode, const uintptr_t *call_slot);
/* Before it is given back: also for condition waits, which give and take. */
void dh_lock_given(const void *lock, unsigned mode, const uintptr_t *call_slot);
/* It is not to be had at once: the thread is about to wait for it. */
void dh_lock_waits(const void *lock, unsigned mode, const uintptr_t *call_slot);
void dh_lock_begins(const void *lock, const uintptr_t *call_slot);
void dh_lock_destroyed(const void *lock, const uintptr_t *call_slot);
/* It was to be, but is held. */
void dh_lock_not_destroyed(const void *lock, const uintptr_t *call_slot);
/* Does the calling thread hold it? Answers the depth of recursion. */
unsigned dh_lock_held(const void *lock);
/* The same, for who would complain: of a thread that holds more locks than are listed nothing is sure. */
bool dh_lock_may_be_held(const void *lock);

/* ---- condition variables: order nothing by themselves ---- */

/* Around a wait: before the mutex is given, and after it was taken again. `timed`: it may end by itself, or has. */
void dh_condition_wait(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot);
void dh_condition_woken(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot);
void dh_condition_signal(const void *condition, bool all, const uintptr_t *call_slot);

/* ---- memory ---- */

/* A new object; nothing that was known of these bytes counts any more. That it came zeroed is no write: who gets it
 * unordered races with its first use. */
void dh_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot);
/* Before it is given back; `size` as was allocated (0: not known, looked up). Every later access is a use after free.
 */
void dh_memory_freed(const void *at, const uintptr_t *call_slot);
/* The program learnt that the block is larger than it asked for: the rest belongs to it, too. */
void dh_memory_extended(const void *at, size_t size);
/* Given to another owner by an annotation: every access is a contradiction until it is accepted. */
void dh_memory_given_away(const void *at, size_t size, const uintptr_t *call_slot);
void dh_memory_accepted(const void *at, size_t size);
/* mmap, brk, stacks: like allocated and forgotten, without a record of their own. */
void dh_memory_mapped(const void *at, size_t size, enum dh_event_region region);
void dh_memory_unmapped(const void *at, size_t size);

/* What a library function reads and writes on behalf of its caller. Only calls out of instrumented code count: those
 * of other libraries are ordered by what we do not see. */
bool dh_access_wanted(const uintptr_t *call_slot); /* would the two below look? */
void dh_access_read(const void *at, size_t size, const uintptr_t *call_slot);
void dh_access_write(void *at, size_t size, const uintptr_t *call_slot);

/* ---- threads ---- */

/* In the creator before the thread exists; the token goes to dh_sync_thread_begin in the new thread, which frees it,
 * or to dh_sync_thread_abandon. NULL is a token, too. */
struct dh_thread;
void *dh_sync_thread_create(const struct dh_thread *created);
void dh_sync_thread_abandon(void *token);
void dh_sync_thread_begin(void *token);
/* The last the thread does; whoever joins knows all it did. `index` as of the registry. */
void dh_sync_thread_end(void);
void dh_sync_thread_joined(uint32_t index, const uintptr_t *call_slot);
void dh_sync_thread_detached(uint32_t index);

/* Around calls that may block for long: the thread's slot may be lent to another thread meanwhile. Nest not. */
void dh_blocking_begin(void);
void dh_blocking_end(void);
/* Around a wait for something that is no lock and no condition; `flags`: DH_EVENT_TIMED or nothing. */
void dh_sync_block(const void *object, enum dh_sync_class c, unsigned flags, const uintptr_t *call_slot);
void dh_sync_unblock(const void *object, enum dh_sync_class c, const uintptr_t *call_slot);

/* ---- being left alone ---- */

/* Accesses, synchronisation or both of the calling thread are not looked at; nests. */
void dh_ignore_begin(void);
void dh_ignore_end(void);

/* ---- atomics, executed by the runtime so that value and clock belong together ---- */

struct dh_atomic_op {
    uintptr_t addr;
    uint32_t what; /* op | order << 8 | size << 16, as in event/hooks.h */
    uint32_t place;
    void *object;                /* the detector's, locked between enter and leave */
    uint8_t before;              /* of stale_order.c */
    struct dh_record_lane *lane; /* and the recorder's */
    struct dh_record_bucket *bucket;
};

/* Before the operation: looks for races with plain accesses and locks the variable against other atomics. Between
 * enter and leave nothing but the operation itself may happen. */
void dh_atomic_enter(struct dh_atomic_op *op);
/* After it: `wrote` is false for a load and for a compare-exchange that failed (then `order` of `what` must have been
 * set to the failure order). */
void dh_atomic_leave(struct dh_atomic_op *op, bool wrote);
/* A load that would tell nothing new, if the variable has this version before and after: then it may be done without
 * enter and leave. NULL: it may not. */
const _Atomic uint64_t *dh_atomic_known(const void *addr, uint32_t what, uint64_t *version);
void dh_atomic_fence(uint32_t order);

#endif
