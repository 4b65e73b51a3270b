/* Serial threads: kernel threads of which one runs at a time. Layer: runtime. For replay, and where coroutines do not
 * work. */
#ifndef DH_RUNTIME_ENGINE_TASKS_SERIAL_THREADS_H
#define DH_RUNTIME_ENGINE_TASKS_SERIAL_THREADS_H

#include "runtime/engine/engine.h"

extern const struct dh_engine_carrier_ops dh_serial_threads;

/* Starts the engine in a thread of its own; returns when main is chosen. */
void dh_serial_threads_begin(struct dh_task *main);

/* The kernel performs the call for real while other threads go on; its return is a step. */
long dh_serial_threads_call(long number, const long a[6]);
/* No thread can go on: waits for the kernel to return to one; false: none is there, or it takes too long. */
bool dh_serial_threads_await_kernel(void);

#endif
