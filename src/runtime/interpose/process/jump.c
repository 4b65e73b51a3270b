/* longjmp and its like: libc's own; the engine knows by them which signal handlers were left. */
#include "runtime/interpose/interpose.h"

#include <setjmp.h>

/* glibc mangles the saved stack pointer with the pointer guard in the thread's header. */
static uintptr_t stack_of(const struct __jmp_buf_tag *to)
{
    enum { SAVED_SP = 6, TURNS = 17 };
    uint64_t value = (uint64_t)to->__jmpbuf[SAVED_SP], guard;
    __asm__("mov %%fs:0x30, %0" : "=r"(guard));
    return (value >> TURNS | value << (64 - TURNS)) ^ guard;
}

#define JUMPS(name)                                                                                                    \
    static void dh_interposed_##name(struct __jmp_buf_tag to[1], int value)                                            \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        if (__builtin_expect(dh_engine_on, 0))                                                                         \
            dh_engine_jumps_to(stack_of(to));                                                                          \
        dh_real.name(to, value);                                                                                       \
    }                                                                                                                  \
    DH_INTERPOSE(name);

JUMPS(longjmp)
JUMPS(_longjmp)
JUMPS(siglongjmp)
