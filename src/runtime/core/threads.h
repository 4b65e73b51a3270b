/* The registry of threads. Layer: runtime. A record per thread, in order of creation, kept after the thread's end
 * (the first DH_THREADS_KEPT of them). Lock-free; records are written by their thread, its creator and threads
 * that join, detach or name it. Every function tolerates records that could not be had. */
#ifndef DH_RUNTIME_CORE_THREADS_H
#define DH_RUNTIME_CORE_THREADS_H

#include "runtime/core/thread_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define DH_THREADS_KEPT (1u << 20)
#define DH_THREAD_NONE UINT32_MAX
#define DH_THREAD_NAME 16

enum dh_thread_flag {
    DH_THREAD_CREATED = 1 << 0, /* the record is filled in */
    DH_THREAD_FINISHED = 1 << 1,
    DH_THREAD_JOINED = 1 << 2,
    DH_THREAD_DETACHED = 1 << 3,
    DH_THREAD_ABSENT = 1 << 4,    /* belongs to the process this one was forked from */
    DH_THREAD_FOREIGN = 1 << 5,   /* not seen being created */
    DH_THREAD_OWN_STACK = 1 << 6, /* on a stack that the program gave */
    DH_THREAD_NAMED = 1 << 7
};

struct dh_thread {
    uint32_t index;  /* order of creation, the main thread is 0 */
    uint32_t parent; /* DH_THREAD_NONE: unknown, or the main thread */
    _Atomic uint32_t flags;
    uint32_t context; /* where it was created */
    int tid;
    uintptr_t handle; /* pthread_t */
    char name[DH_THREAD_NAME];
    uintptr_t marked_low, marked_high; /* of a stack that the program gave: what is dead until the join */
};

/* The main thread's record; raw, works before libc is ready. */
void dh_threads_init(uintptr_t stack_high, size_t stack_size);
/* When keys may be created: from now on the ends of threads are seen. */
void dh_threads_watch_ends(void);
uint32_t dh_threads_count(void);
/* NULL: never was, or not kept. */
struct dh_thread *dh_threads_find(uint32_t index);
/* The newest record of a thread that began with this pthread_t and was not joined: slow, for a handle whose
 * thread had not begun when it was first asked for. */
struct dh_thread *dh_threads_find_handle(uintptr_t handle);
/* "running", "finished", "joined", "detached", "absent". */
const char *dh_thread_state_name(const struct dh_thread *t);

/* For the creator, before the thread exists; `context` says where it happens. */
struct dh_thread *dh_thread_new(uint32_t context, bool detached);
/* The creator's `new` came to nothing. */
void dh_thread_abandon(struct dh_thread *t);
/* In the new thread, first of all; `stack_high` is above every frame of the program's. */
void dh_thread_begin(struct dh_thread *t, uintptr_t stack_high, size_t stack_size);
/* In a thread whose creation was not seen (raw clone, libc's own helpers): makes it known if that can be done. */
void dh_thread_attach(void);
/* The record of the thread with this pthread_t, which must be valid; NULL when it is not known yet. */
struct dh_thread *dh_thread_of_handle(uintptr_t handle);
void dh_thread_set_name(struct dh_thread *t, const char *name);
void dh_thread_mark(struct dh_thread *t, enum dh_thread_flag flag);

#endif
