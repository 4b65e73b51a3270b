/* What runs once: pthread_once, call_once, and the guards of function-local statics in C++. The end of the routine
 * comes before every return of another call. Compiled with -fexceptions. */
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/primitives/once_attempt.h"
#include "runtime/platform/raw_syscall.h"

#include <limits.h>
#include <linux/futex.h>

/* ---- pthread_once and call_once ---- */

/* libc's functions hand the routine no argument, so it waits here for the moment in which they call it. */
struct pending {
    const void *flag;
    void (*routine)(void);
};

static __thread struct pending pending;

/* Also where an exception, pthread_exit or a cancellation leaves the routine: libc begins anew, and what this attempt
 * did comes before the next one. Exceptions are noticed by the attribute, which wants the C personality of libgcc;
 * a program without it has none. */
__asm__(".weak __gcc_personality_v0\n\t.weak _Unwind_Resume");

static void end_attempt(struct dh_once_attempt *a)
{
    if (a->ended)
        return;
    a->ended = true;
    dh_once_forget_exit(a);
    if (dh_engine_on)
        dh_engine_once_ends(a->flag);
    dh_sync_release(a->flag, DH_SYNC_ONCE);
}

static void run_pending(void)
{
    __attribute__((cleanup(end_attempt))) struct dh_once_attempt a = {
        .flag = pending.flag, .routine = pending.routine, .end = end_attempt};
    dh_sync_acquire(a.flag, DH_SYNC_ONCE);
    dh_once_attempt(&a);
}

#define ONCE(result, name, flag_type, conclusion)                                                                      \
    static result dh_interposed_##name(flag_type *flag, void (*routine)(void))                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        if (dh_engine_on)                                                                                              \
            dh_engine_once_begins((const int *)flag);                                                                  \
        struct pending outer = pending;                                                                                \
        pending = (struct pending){flag, routine};                                                                     \
        conclusion;                                                                                                    \
    }                                                                                                                  \
    DH_INTERPOSE(name);

static void concluded(struct pending outer, const void *flag)
{
    pending = outer;
    dh_sync_acquire(flag, DH_SYNC_ONCE);
}

ONCE(int, pthread_once, pthread_once_t, {
    int result = dh_real.pthread_once(flag, run_pending);
    concluded(outer, flag);
    return result;
})
ONCE(void, call_once, once_flag, {
    dh_real.call_once(flag, run_pending);
    concluded(outer, flag);
})

/* ---- guards ---- */

/* As in libstdc++: the first byte says that the object is there (compiled code reads it, to acquire), the second that
 * somebody makes it, the third that others wait. All three functions are here, so the library's own are not needed,
 * and may be in a library that is loaded later. */
#define GUARD_DONE 1
#define GUARD_PENDING (1 << 8)
#define GUARD_WAITING (1 << 16)

extern int __cxa_guard_acquire(int64_t *guard);
extern void __cxa_guard_release(int64_t *guard);
extern void __cxa_guard_abort(int64_t *guard);

static void wait_for_guard(int *state)
{
    int expected = GUARD_PENDING;
    if (!__atomic_compare_exchange_n(state, &expected, GUARD_PENDING | GUARD_WAITING, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        expected != (GUARD_PENDING | GUARD_WAITING))
        return;
    DH_WAIT(dh_syscall6(SYS_futex, (long)state, FUTEX_WAIT, GUARD_PENDING | GUARD_WAITING, 0, 0, 0));
}

static int dh_interposed___cxa_guard_acquire(int64_t *guard)
{
    int *state = (int *)guard;
    if (dh_engine_on)
        dh_engine_guard_begins(state);
    for (;;) {
        int expected = 0;
        if (__atomic_compare_exchange_n(state, &expected, GUARD_PENDING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return 1;
        if (expected & GUARD_DONE)
            break;
        wait_for_guard(state);
    }
    dh_sync_acquire(guard, DH_SYNC_ONCE);
    return 0;
}
DH_INTERPOSE(__cxa_guard_acquire);

static void leave_guard(int64_t *guard, int result)
{
    int *state = (int *)guard;
    if (dh_engine_on && result == GUARD_DONE)
        dh_engine_guard_done(guard);
    if (dh_engine_on)
        dh_engine_once_ends(guard);
    dh_sync_release(guard, DH_SYNC_ONCE);
    int before = __atomic_exchange_n(state, result, __ATOMIC_ACQ_REL);
    if (before & GUARD_WAITING)
        dh_syscall6(SYS_futex, (long)state, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

static void dh_interposed___cxa_guard_release(int64_t *guard)
{
    leave_guard(guard, GUARD_DONE);
}
DH_INTERPOSE(__cxa_guard_release);

static void dh_interposed___cxa_guard_abort(int64_t *guard)
{
    leave_guard(guard, 0);
}
DH_INTERPOSE(__cxa_guard_abort);
