/* Serial threads: kernel threads of which one runs at a time. Layer: runtime. For replay, and where coroutines do not
 * work. */
#ifndef DH_RUNTIME_ENGINE_SERIAL_THREADS_H
#define DH_RUNTIME_ENGINE_SERIAL_THREADS_H

#include "runtime/engine/engine.h"

extern const struct dh_engine_carrier_ops dh_serial_threads;

/* Starts the engine in a thread of its own; returns when main is chosen. */
void dh_serial_threads_begin(struct dh_task *main);

#endif
