/* The shadow call stack: slow paths and reading. Layer: runtime. Each thread touches its own frames only; signal
 * handlers of the thread may nest anywhere. Memory comes in growing blocks up to DH_FRAMES_MAX entries; deeper
 * calls are counted, so that the way back is exact. */
#ifndef DH_RUNTIME_CORE_FRAMES_H
#define DH_RUNTIME_CORE_FRAMES_H

#include "runtime/core/thread_state.h"

#include <stdbool.h>

#define DH_FRAMES_MAX 65536

/* Gives the state its first block; false when there is no memory. */
bool dh_frames_init(struct dh_thread_state *t);
void dh_frames_release(struct dh_thread_state *t);

/* Who wants to know of calls of the hooks that are not inlined: where the call returns to, and the depth that `enter`
 * answers and `leave` gets. */
extern struct dh_frames_watch {
    void (*entered)(const void *call_end, uint32_t depth);
    void (*left)(const void *call_end, uint32_t depth);
} dh_frames_watch;

/* How many frames can be read: those that are counted only are not there. */
static inline uint32_t dh_frames_known(const struct dh_thread_state *t)
{
    return t->depth < t->capacity ? t->depth : t->capacity;
}

/* `enter` when the fast path cannot do it: unknown thread, dead frames, full block. */
uint32_t dh_frames_enter_slow(const void *frame, const void *return_address);

#endif
