/* Keys of thread-specific data: libc keeps the values, we the destructors, since tasks end without libc. Layer:
 * runtime.
 */
#ifndef DH_RUNTIME_ENGINE_KEYS_H
#define DH_RUNTIME_ENGINE_KEYS_H

enum { DH_KEYS_FIRST_BLOCK = 512 }; /* bytes of the values that are in the thread's own record, just before the table */

/* In a task at its end. */
void dh_keys_end(void);

#endif
