/* What waits.c writes and the watcher reads. Layer: runtime, of deadlock/. A record is written by its thread and
 * only while it does not wait; the watcher believes what it read if the sequence number is the same odd one before and
 * after: then the thread was in that wait all the time. */
#ifndef DH_RUNTIME_DEADLOCK_STATE_H
#define DH_RUNTIME_DEADLOCK_STATE_H

#include "runtime/platform/address_map.h"
#include "runtime/sync/held_locks.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { DH_DEADLOCK_LOCKS = 48, DH_DEADLOCK_TICK_MS = 50 };

struct dh_deadlock_thread {
    struct dh_deadlock_thread *next; /* records are never freed */
    _Atomic uint32_t used;
    _Atomic uint64_t sequence; /* odd while it waits */
    bool described;            /* the next wait, or the one under way, is for what follows */
    bool interrupted;          /* the wait described is, by a signal handler */
    uint32_t role, context;    /* dh_log_role; where it waits */
    uintptr_t object;
    int tid;
    uint32_t index;   /* of the thread */
    uintptr_t handle; /* its pthread_t */
    uint32_t n_held, n_unlisted;
    struct dh_held_lock held[DH_DEADLOCK_LOCKS];
    /* Of the watcher alone. */
    uint64_t seen;
    uint32_t ticks; /* for which the sequence was the same */
    uint64_t mark;
};

/* What is known of a condition. */
struct dh_deadlock_condition {
    struct dh_map_node node;
    _Atomic uint32_t waiting, signals;
    _Atomic bool lone; /* signalled while no thread waited; where: */
    bool all;
    uint32_t thread, context;
};

extern _Atomic(struct dh_deadlock_thread *) dh_deadlock_threads;
struct dh_deadlock_condition *dh_deadlock_condition(uintptr_t condition, bool make);
/* A thread unlocked it that had not locked it: its owner is not known. */
bool dh_deadlock_has_unknown_owner(uintptr_t lock);
/* A thread waits: starts or wakes the watcher. */
void dh_deadlock_watch(void);
void dh_deadlock_watch_forked(void);

static inline bool dh_deadlock_still_waits(const struct dh_deadlock_thread *b)
{
    return b->ticks && atomic_load(&b->sequence) == b->seen;
}
/* Holds the lock so that another thread has to wait for it. */
const struct dh_held_lock *dh_deadlock_holds(const struct dh_deadlock_thread *b, uintptr_t lock, bool shared);

/* Each of these waits for the next, the last for the first. Others may still have something to do: the process goes on.
 */
void dh_deadlock_report_cycle(struct dh_deadlock_thread *const *waiters, unsigned n);
/* These are all threads there are, and none is left that could end their waits; or, not `sure`, that is likely to.
 * Reports it, unless the cycle that led to it was reported, and ends the process; returns when it is suppressed. */
void dh_deadlock_report_stuck(struct dh_deadlock_thread *const *waiters, unsigned n, bool sure);
/* The lock of `b` was waited for too long. The same. */
void dh_deadlock_report_hang(struct dh_deadlock_thread *b, unsigned seconds);

#endif
