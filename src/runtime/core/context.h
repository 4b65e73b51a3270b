/* Calling contexts: numbers for call stacks, so that an event carries 32 bits. Layer: runtime. Contexts form a
 * tree; they are made on demand from a shadow stack, never freed, and equal stacks get equal numbers (compared
 * frame by frame, not by V alone). Lock-free; any thread, signal handlers, after fork. */
#ifndef DH_RUNTIME_CORE_CONTEXT_H
#define DH_RUNTIME_CORE_CONTEXT_H

#include "runtime/core/thread_state.h"

#include <stddef.h>

#define DH_CONTEXT_ROOT 0 /* the empty stack; also the answer when there is no memory for more */

/* For an observer's cache of contexts. */
struct dh_known_context {
    uint64_t value; /* V of a shadow stack */
    uint32_t id, unused;
};

/* The number of the stack that `t`, the calling thread, has now. */
uint32_t dh_context_intern(const struct dh_thread_state *t);
/* One more call, from `return_address`, below `parent`. */
uint32_t dh_context_extend(uint32_t parent, uintptr_t return_address);
/* Return addresses, innermost first; answers how many there are, writes at most `max`. */
size_t dh_context_frames(uint32_t id, uintptr_t *out, size_t max);
/* The context that called, and from where. Not of the root. */
uint32_t dh_context_parent(uint32_t id, uintptr_t *return_address);
/* Contexts made so far, and those refused for want of memory. */
uint32_t dh_context_count(void);
uint32_t dh_context_lost(void);

#endif
