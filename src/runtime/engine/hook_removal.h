/* Calls of hooks that have nothing to do become no operation, as ftrace does it: in the text of the process, one by one
 * when they are first executed, since the call that is to be removed is then known for certain. Layer: runtime. Only
 * code that is there when the engine begins, and only where threads are coroutines. What children of the search remove
 * the process that makes them removes, too. Frames of functions that make no step are removed with them. */
#ifndef DH_RUNTIME_ENGINE_HOOK_REMOVAL_H
#define DH_RUNTIME_ENGINE_HOOK_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

/* Before the snapshot. Without memory, or where code cannot be written, nothing is removed. */
void dh_hook_removal_begin(void);
/* The call of __dh_before or __dh_after that returns there. */
void dh_hook_removal_remove(const void *return_address);
/* All of them are called again, until `again`. */
void dh_hook_removal_suspend(void);
void dh_hook_removal_again(void);
/* All of them are called again, until they are removed anew. */
void dh_hook_removal_put_back(void);
/* After a child that ran a schedule. */
void dh_hook_removal_take_over(void);
/* Is it code in which hooks are removed? Restoring leaves it alone. */
bool dh_hook_removal_owns(uintptr_t low, uintptr_t high);

#endif
