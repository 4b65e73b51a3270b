/* The shadow call stack's hooks as they are inlined into executables. Layer: runtime. Compiled to bitcode, linked
 * into the instrumented module as available_externally: the linker takes the ones of the runtime for the rest. */
#include "event/hooks.h"
#include "runtime/thread_state.h"

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
    struct dh_frame *f = &t->frames[depth];
    if (__builtin_expect(f[-1].frame <= (uintptr_t)frame, 0))
        return __dh_enter_slow(frame, return_address);
    f->frame = (uintptr_t)frame;
    f->return_address = (uintptr_t)return_address;
    f->context = dh_context_step(f[-1].context, f->return_address);
    t->depth = depth + 1;
    return depth;
}

INLINE void __dh_leave(uint32_t depth)
{
    __dh_thread.depth = depth;
}

INLINE void __dh_resume(uint32_t depth)
{
    __dh_thread.depth = depth + 1;
}
