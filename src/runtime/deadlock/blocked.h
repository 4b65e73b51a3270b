/* Who waits for what in this process, so that a deadlock that happens is told instead of hanging. Layer: runtime. On by
 * the option detect=deadlock; does nothing otherwise. A thread says what it is about to wait for, if only another
 * thread of this process can end that: no time limit, no object that other processes share. The marks of a wait
 * (interpose_wait.c) then say when it does. Any thread, signal handlers, after fork. */
#ifndef DH_RUNTIME_DEADLOCK_BLOCKED_H
#define DH_RUNTIME_DEADLOCK_BLOCKED_H

#include <stdbool.h>
#include <stdint.h>

extern bool dh_blocked_on;

void dh_blocked_start(void);
/* In the child: only the calling thread is left. */
void dh_blocked_forked(void);
/* Before the program shuts itself in: nobody watches any more. */
void dh_blocked_stop(void);
void dh_blocked_thread_ends(void);

/* The next wait is for this. `role`: dh_log_role; `object`: lock, condition, semaphore, barrier; for DH_ROLE_JOIN the
 * thread's pthread_t. */
void dh_blocked_describe(uint32_t role, uintptr_t object, const uintptr_t *call_slot);
/* The marks of a wait. */
void dh_blocked_wait_begins(void);
void dh_blocked_wait_ends(void);
/* A signal handler comes in between, which may wait for something else, and returns. */
void dh_blocked_wait_interrupted(void);
void dh_blocked_wait_resumed(void);

void dh_blocked_note_taken(const void *lock, bool shared, const uintptr_t *call_slot);
void dh_blocked_note_given(const void *lock);
void dh_blocked_note_signal(const void *condition, bool all, const uintptr_t *call_slot);

/* ---- for callers: nothing when it is off ---- */

#define DH_BLOCKED(call)                                                                                               \
    do {                                                                                                               \
        if (__builtin_expect(dh_blocked_on, 0))                                                                        \
            call;                                                                                                      \
    } while (0)

#endif
