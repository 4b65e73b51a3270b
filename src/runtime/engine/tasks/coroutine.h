/* Threads of the program as coroutines on one kernel thread, each with a stack and thread-local storage. Layer:
 * runtime. */
#ifndef DH_RUNTIME_ENGINE_TASKS_COROUTINE_H
#define DH_RUNTIME_ENGINE_TASKS_COROUTINE_H

#include "runtime/engine/engine.h"

extern const struct dh_engine_carrier_ops dh_coroutines;

/* Context switch: saves the callee-saved registers on the present stack and its top in `*save`, and goes on at `to`. */
void dh_engine_switch(void **save, void *to);
void dh_engine_set_thread_pointer(uintptr_t fs);
/* Main becomes a coroutine, the engine starts on a stack of its own; returns when main is resumed. */
void dh_coroutines_begin(struct dh_task *main);

/* ---- tls.c ---- */

/* Looks up the functions of libc that it needs. */
void dh_tls_init(void);
/* Allocates thread-local storage for the first tasks, before the snapshot; false: an unknown libc. */
bool dh_tls_prepare(void);
/* Thread pointer for the task with this index; 0: no memory. */
uintptr_t dh_tls_of(uint32_t index, uint32_t tid);
/* Bytes of thread-local variables below the thread pointer; 0: not known. */
size_t dh_tls_size(void);
/* Self-test: do errno, ctype, thread-local variables and keys of libc work in a coroutine? */
bool dh_tls_works(void);
/* At the end of a task, on its stack: destructors of thread-local objects and keys. */
void dh_tls_end(struct dh_task *t);

#endif
