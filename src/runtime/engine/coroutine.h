/* Threads as coroutines on one kernel thread. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_COROUTINE_H
#define DH_RUNTIME_ENGINE_COROUTINE_H

#include "runtime/engine/engine.h"

extern const struct dh_engine_carrier_ops dh_coroutines;

/* Saves the registers that functions keep on the present stack, its top in `*save`, and goes on where `to` was saved.
 */
void dh_engine_switch(void **save, void *to);
/* Goes on at `function`, never to come back, on a stack that ends at `top`. */
__attribute__((noreturn)) void dh_engine_jump(void *top, void (*function)(void));
void dh_engine_set_thread_pointer(uintptr_t fs);
/* Main becomes a coroutine, the engine begins on a stack of its own; comes back when main is resumed. */
void dh_coroutines_begin(struct dh_task *main);

/* ---- tls.c ---- */

/* Finds what libc has for it. */
void dh_tls_init(void);
/* Blocks of thread-local storage for the first tasks, made before the snapshot; false: libc is not as we know it. */
bool dh_tls_prepare(void);
/* Thread pointer for the task with this index; 0: no memory. */
uintptr_t dh_tls_of(uint32_t index, uint32_t tid);
/* Bytes of thread-local variables below the thread pointer; 0: not known. */
size_t dh_tls_size(void);
/* Does libc work in a coroutine: errno, ctype, thread-local variables, keys? */
bool dh_tls_works(void);
/* On the task's stack at its end: destructors of thread-local objects and keys. */
void dh_tls_end(struct dh_task *t);

#endif
