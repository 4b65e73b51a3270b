/* Hooks of the shadow call stack, inlined into executables. Layer: runtime. Compiled to bitcode, linked into the
 * instrumented module as available_externally: calls that are not inlined go to the runtime's functions. */
#include "event/hooks.h"
#include "runtime/core/thread_state.h"

#define INLINE __attribute__((always_inline))

/* In executables only, where the runtime itself defines it. */
extern __thread struct dh_thread_state __dh_thread __attribute__((tls_model("local-exec")));

__attribute__((preserve_most, cold)) uint32_t __dh_enter_slow(const void *frame, const void *return_address);

INLINE uint32_t __dh_enter(const void *frame, const void *return_address)
{
    struct dh_thread_state *t = &__dh_thread;
    uint32_t depth = t->depth;
    if (__builtin_expect(depth >= t->capacity, 0))
        return __dh_enter_slow(frame, return_address);
    if (__builtin_expect(t->frames[(int64_t)depth - 1].frame <= ((uintptr_t)frame | 1), 0))
        return __dh_enter_slow(frame, return_address);
    dh_frame_push(t, depth, frame, return_address);
    return depth;
}

INLINE void __dh_leave(uint32_t depth)
{
    __dh_thread.depth = depth;
}

INLINE void __dh_spare(const void *a, const void *b)
{
    __dh_thread.spared[0] = a;
    __dh_thread.spared[1] = b;
}

INLINE void __dh_resume(uint32_t depth)
{
    __dh_thread.depth = depth + 1;
}
