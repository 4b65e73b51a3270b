/* Keys of thread-specific data: libc keeps the values, we the destructors, since tasks end without libc. Layer:
 * runtime.
 */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_KEYS_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_KEYS_H

#include <pthread.h>

enum { DH_KEYS_FIRST_BLOCK = 512 }; /* bytes of the values that are in the thread's own record, just before the table */

/* Of a key that the runtime made for itself: at the end of tasks as at that of threads. */
void dh_keys_add(pthread_key_t key, void (*destructor)(void *));
/* In a task at its end. */
void dh_keys_end(void);

#endif
