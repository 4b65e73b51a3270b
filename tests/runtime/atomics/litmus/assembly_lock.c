// A lock of inline assembly cannot be understood: what it guards is reported, and that such assembly ran. The same lock
// by the compiler's atomics is understood.
// NOTE: note: inline assembly ran
// TSAN: assembly
// WRONG: counter -DASSEMBLY
#include "spinlock.h"
#include <sched.h>

static int taken;

static void lock(void)
{
    for (int old = 1; old;) {
        old = 1;
#ifdef ASSEMBLY
        __asm__ volatile("xchgl %0, %1" : "+r"(old), "+m"(taken)::"memory");
#else
        old = __atomic_exchange_n(&taken, 1, __ATOMIC_ACQUIRE);
#endif
        if (old)
            sched_yield();
    }
}

static void unlock(void)
{
#ifdef ASSEMBLY
    __asm__ volatile("movl $0, %0" : "=m"(taken)::"memory");
#else
    __atomic_store_n(&taken, 0, __ATOMIC_RELEASE);
#endif
}
