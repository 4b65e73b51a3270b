/* A lock of the runtime's own. Layer: runtime. For short sections without calls; all signals reach the holder, so a
 * section that a hook may enter again is guarded by the thread's busy mark first. */
#ifndef DH_RUNTIME_PLATFORM_SPIN_H
#define DH_RUNTIME_PLATFORM_SPIN_H

#include "runtime/platform/lock_order.h"
#include "runtime/platform/raw_syscall.h"

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

/* `rank`: of dh_lock_rank, which builds that do not check it leave out. */
typedef struct {
    atomic_flag flag;
#ifdef DH_CHECK_LOCK_ORDER
    int rank;
#define DH_SPIN_INIT(its_rank) {ATOMIC_FLAG_INIT, its_rank}
#define DH_SPIN_RANK(l) ((l)->rank)
#else
#define DH_SPIN_INIT(its_rank) {ATOMIC_FLAG_INIT}
#define DH_SPIN_RANK(l) 0
#endif
} dh_spin;

static inline bool dh_spin_is_acquired(dh_spin *l)
{
    return !atomic_flag_test_and_set_explicit(&l->flag, memory_order_acquire);
}

static inline bool dh_spin_try(dh_spin *l)
{
    bool acquired = dh_spin_is_acquired(l);
    if (acquired)
        dh_lock_order_acquire(DH_SPIN_RANK(l));
    return acquired;
}

static inline void dh_spin_lock(dh_spin *l)
{
    dh_lock_order_acquire(DH_SPIN_RANK(l));
    for (unsigned n = 0; !dh_spin_is_acquired(l); n++) {
        __builtin_ia32_pause();
        if (n % 64 == 63) /* the holder may wait for our processor */
            dh_syscall3(SYS_sched_yield, 0, 0, 0);
    }
}

static inline void dh_spin_unlock(dh_spin *l)
{
    dh_lock_order_release(DH_SPIN_RANK(l));
    atomic_flag_clear_explicit(&l->flag, memory_order_release);
}

/* In a forked child: no thread is left that could hold it. */
static inline void dh_spin_forked(dh_spin *l)
{
    atomic_flag_clear(&l->flag);
}

#endif
