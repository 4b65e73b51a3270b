/* Keys of thread-specific data: libc keeps the values, we the destructors, since tasks end without libc. Layer:
 * runtime.
 */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_THREAD_KEYS_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_THREAD_KEYS_H

#include <pthread.h>

enum {
    DH_THREAD_KEYS_FIRST_BLOCK = 512
}; /* bytes of the values that are in the thread's own record, just before the table */

/* Of a key that the runtime made for itself: at the end of tasks as at that of threads. */
void dh_thread_keys_register(pthread_key_t key, void (*destructor)(void *));
/* In a task at its end. */
void dh_thread_keys_destroy_values(void);

#endif
