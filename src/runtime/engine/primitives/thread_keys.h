/* Thread-specific data (pthread keys): libc keeps the values, this the destructors, since tasks end without libc.
 * Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_THREAD_KEYS_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_THREAD_KEYS_H

#include <pthread.h>

enum { DH_THREAD_KEYS_FIRST_BLOCK = 512 }; /* bytes of values in glibc's record of a thread, before the table */

/* For keys that the runtime creates itself. */
void dh_thread_keys_register(pthread_key_t key, void (*destructor)(void *));
/* At the end of a task: runs the destructors. */
void dh_thread_keys_destroy_values(void);

#endif
