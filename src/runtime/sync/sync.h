/* Synchronisation events of the checked program: what interposed functions and hooks report to the detectors, the
 * recorder and the deadlock watcher. Layer: runtime. Any thread, signal handlers, after fork. A call does nothing while
 * no observer (sync/observers.def) wants it, in threads that are not known, and within dh_ignore_begin/end, so callers
 * test nothing first. Objects are named by address; their memory is never accessed. errno stays as it was. */
#ifndef DH_RUNTIME_SYNC_SYNC_H
#define DH_RUNTIME_SYNC_SYNC_H

#include "event/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the return address of an interposed function is stored; only in that function itself. */
#define DH_CALL_SLOT ((const uintptr_t *)__builtin_frame_address(0) + 1)

struct dh_thread;

/* ---- happens-before through an object ---- */

enum dh_sync_edge {
    DH_EDGE_ACQUIRE = 1 << 0, /* all that was released to the object so far happens before what follows */
    DH_EDGE_RELEASE = 1 << 1, /* the object carries this thread's past and nothing else: what one thread holds alone */
    DH_EDGE_RELEASE_JOIN = 1 << 2, /* beside what it carried: semaphores, pipes, arrivals at barriers */
};

/* `edges`: of dh_sync_edge. */
void dh_sync_edge(const void *object, enum dh_sync_class c, unsigned edges);
static inline void dh_sync_acquire(const void *object, enum dh_sync_class c)
{
    dh_sync_edge(object, c, DH_EDGE_ACQUIRE);
}
static inline void dh_sync_release(const void *object, enum dh_sync_class c)
{
    dh_sync_edge(object, c, DH_EDGE_RELEASE);
}
static inline void dh_sync_release_join(const void *object, enum dh_sync_class c)
{
    dh_sync_edge(object, c, DH_EDGE_RELEASE_JOIN);
}
/* Both at once, for what acquires and releases in one step. */
static inline void dh_sync_acquire_release(const void *object, enum dh_sync_class c)
{
    dh_sync_edge(object, c, DH_EDGE_ACQUIRE | DH_EDGE_RELEASE_JOIN);
}
/* The object is destroyed or initialised anew. */
void dh_sync_forget(const void *object, enum dh_sync_class c);
/* The thread is about to synchronise in a way whose edges are reported later. */
void dh_sync_point(void);
/* A signal handler of the program begins in the calling thread. */
void dh_signal_delivered(void);

/* ---- locks: happens-before, and what is held ---- */

enum dh_lock_mode {
    DH_LOCK_EXCLUSIVE = 0,
    DH_LOCK_SHARED = 1 << 0,
    DH_LOCK_TRY = 1 << 1,       /* would not have waited */
    DH_LOCK_TIMED = 1 << 2,     /* would not have waited for ever */
    DH_LOCK_BY_WAIT = 1 << 3,   /* released or acquired by a condition wait */
    DH_LOCK_UNWATCHED = 1 << 4, /* of a wait: not only threads of this process can end it, or the thread spins */
};

/* After it was acquired; `call_slot` says from where (NULL: not known). Recursion is counted. */
void dh_lock_acquired(const void *lock, unsigned mode, const uintptr_t *call_slot);
/* Before it is released: also for condition waits, which release and acquire. */
void dh_lock_released(const void *lock, unsigned mode, const uintptr_t *call_slot);
/* The thread is about to acquire some lock. */
void dh_lock_request(void);
/* It is not to be had at once: the thread is about to wait for it. */
void dh_lock_wait(const void *lock, unsigned mode, const uintptr_t *call_slot);
void dh_lock_init(const void *lock, const uintptr_t *call_slot);
void dh_lock_destroyed(const void *lock, const uintptr_t *call_slot);
/* It was to be destroyed, but is held. */
void dh_lock_destroy_failed(const void *lock, const uintptr_t *call_slot);
/* Does the calling thread hold it? Answers the depth of recursion. */
unsigned dh_lock_held(const void *lock);
/* The same, for callers that report misuse: of a thread that holds more locks than are listed nothing is sure. */
bool dh_lock_may_be_held(const void *lock);

/* ---- condition variables: order nothing by themselves ---- */

/* Around a wait: before the mutex is released, and after it was acquired again. `mode`: DH_LOCK_TIMED (it may end by
 * itself), DH_LOCK_UNWATCHED; `timed`: it has ended so. */
void dh_condition_wait(const void *condition, const void *mutex, unsigned mode, const uintptr_t *call_slot);
void dh_condition_woken(const void *condition, const void *mutex, bool timed, const uintptr_t *call_slot);
void dh_condition_signal(const void *condition, bool all, const uintptr_t *call_slot);

/* ---- memory ---- */

/* A new object; nothing that was known of these bytes counts any more. That it came zeroed is no write: a thread that
 * gets it unordered races with its first use. */
void dh_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot);
/* Before it is freed. Every later access is a use after free. */
void dh_memory_freed(const void *at, const uintptr_t *call_slot);
/* The program learnt that the block is larger than it asked for: the rest belongs to it, too. */
void dh_memory_extended(const void *at, size_t size);
/* Transferred to another owner by an annotation: every access is a contradiction until it is accepted. */
void dh_memory_transferred(const void *at, size_t size, const uintptr_t *call_slot);
void dh_memory_accepted(const void *at, size_t size);
/* mmap, brk, stacks: like allocated and freed, without a record of their own. */
void dh_memory_mapped(const void *at, size_t size, enum dh_event_region region);
void dh_memory_unmapped(const void *at, size_t size);

/* What a library function reads or writes on behalf of its caller. */
void dh_library_access(const void *at, size_t size, bool write, const uintptr_t *call_slot);
/* Is there an observer for it? */
bool dh_library_access_wanted(void);

/* ---- threads ---- */

/* What observers keep from the creation of a thread to its beginning; all NULL at first. */
struct dh_thread_birth {
    struct dh_sync_clock *past; /* the race detector's: the creator's, of the world `generation` */
    uint32_t generation;
    struct dh_stale_thread_birth *stale;
};

/* In the creator before the thread exists; then start in the new thread, or spawn_failed, consumes `birth`. */
void dh_thread_spawn(struct dh_thread_birth *birth, const struct dh_thread *created);
void dh_thread_spawn_failed(struct dh_thread_birth *birth);
void dh_thread_start(struct dh_thread_birth *birth);
/* The last the thread does; all it did happens before its join. */
void dh_thread_exit(void);
void dh_thread_joined(const struct dh_thread *t, const uintptr_t *call_slot);
void dh_thread_detached(const struct dh_thread *t);
void dh_thread_named(const struct dh_thread *t);
/* A fiber is created; it stops running, and runs again, perhaps in another thread. */
void dh_fiber_created(const struct dh_thread *created);
void dh_fiber_parked(const void *fiber);
void dh_fiber_resumed(const void *fiber);

/* Around calls that may block for long: the thread's slot may be borrowed by another thread meanwhile. Nest not. */
void dh_blocking_begin(void);
void dh_blocking_end(void);
/* Around a wait for something that is no lock and no condition; `flags`: DH_EVENT_TIMED or nothing; `watched`: what
 * only threads of this process can end the wait for (an object, the pthread_t of a joined thread), 0: others can. */
void dh_sync_block(const void *object, enum dh_sync_class c, unsigned flags, uintptr_t watched,
                   const uintptr_t *call_slot);
void dh_sync_unblock(const void *object, enum dh_sync_class c, const uintptr_t *call_slot);
/* The marks of the wait that lock_wait, condition_wait or sync_block announced: it begins, ends, is interrupted by a
 * signal handler, goes on after that. */
void dh_watched_wait_begin(void);
void dh_watched_wait_end(void);
void dh_watched_wait_interrupted(void);
void dh_watched_wait_resumed(void);

/* ---- what is left out ---- */

enum dh_ignored { DH_IGNORED_ALL, DH_IGNORED_READS, DH_IGNORED_WRITES, DH_IGNORED_SYNC, DH_IGNORED_KINDS };

/* Accesses, synchronisation or both of the calling thread are not observed; nests. */
void dh_ignore_begin(enum dh_ignored what);
void dh_ignore_end(enum dh_ignored what);

/* ---- activations of functions, and modules ---- */

/* `token`: how many activations were open before. Leaving ends all that were entered since: open - token. */
void dh_scope_entered(uint32_t token, const void *object, uint32_t place);
void dh_scope_left(uint32_t token, uint32_t open);
/* An instrumented library joined. */
void dh_modules_changed(void);

/* ---- atomics, executed by the runtime so that value and clock belong together ---- */

struct dh_atomic_op {
    uintptr_t addr;
    uint32_t what; /* op | order << 8 | size << 16, as in event/hooks.h */
    uint32_t place;
    /* Of the observers, NULL at first. */
    void *object;                /* locked between enter and leave */
    uint8_t before;              /* of adversarial memory (stale/order.c) */
    struct dh_record_lane *lane; /* and the recorder's */
    struct dh_record_bucket *bucket;
};

/* Before the operation: checks for races with plain accesses and locks the variable against other atomics. Between
 * enter and leave nothing but the operation itself may happen. */
void dh_atomic_enter(struct dh_atomic_op *op);
/* After it: `wrote` is false for a load and for a compare-exchange that failed (then `order` of `what` must have been
 * set to the failure order). */
void dh_atomic_leave(struct dh_atomic_op *op, bool wrote);
/* A load that would give nothing new, if the variable has this version before and after: then it may be done without
 * enter and leave. NULL: it may not. */
const _Atomic uint64_t *dh_atomic_known(const void *addr, uint32_t what, uint64_t *version);
void dh_atomic_fence(uint32_t order);

#endif
