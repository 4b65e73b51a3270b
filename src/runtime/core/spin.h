/* A lock of the runtime's own. Layer: runtime. For short sections without calls; all signals reach the holder, so a
 * section that a hook may enter again is guarded by the thread's busy mark first. */
#ifndef DH_RUNTIME_CORE_SPIN_H
#define DH_RUNTIME_CORE_SPIN_H

#include "runtime/core/raw_syscall.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Looks for about a microsecond whether something has come to be: as long as most short sections take, and less than to
 * be laid to sleep and woken. */
#define DH_SPIN_UNTIL(condition)                                                                                       \
    ({                                                                                                                 \
        bool met = (condition);                                                                                        \
        for (int looks = 48; !met && looks; looks--) {                                                                 \
            __builtin_ia32_pause();                                                                                    \
            met = (condition);                                                                                         \
        }                                                                                                              \
        met;                                                                                                           \
    })

typedef atomic_flag dh_spin;
#define DH_SPIN_INIT ATOMIC_FLAG_INIT

static inline bool dh_spin_try(dh_spin *l)
{
    return !atomic_flag_test_and_set_explicit(l, memory_order_acquire);
}

static inline void dh_spin_lock(dh_spin *l)
{
    for (unsigned n = 0; !dh_spin_try(l); n++) {
        __builtin_ia32_pause();
        if (n % 64 == 63) /* the holder may wait for our processor */
            dh_syscall3(SYS_sched_yield, 0, 0, 0);
    }
}

static inline void dh_spin_unlock(dh_spin *l)
{
    atomic_flag_clear_explicit(l, memory_order_release);
}

#endif
