#include "runtime/engine/syscalls.h"

#include "runtime/engine/futex.h"
#include "runtime/engine/primitives.h"
#include "runtime/engine/raw.h"
#include "runtime/engine/snapshot.h"

#include <errno.h>
#include <sys/prctl.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif
enum { ALLOW = 0, BLOCK = 1 };

static uint8_t *selector;

bool dh_syscalls_begin(void)
{
    if (!selector) {
        selector = dh_keep_alloc(1);
        if (!selector)
            return false;
    }
    *selector = BLOCK;
    return dh_raw(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, (long)dh_raw_begin,
                  dh_raw_end - dh_raw_begin, (long)selector, 0) == 0;
}

bool dh_syscalls_allow(bool all)
{
    bool before = *selector == ALLOW;
    *selector = all ? ALLOW : BLOCK;
    return before;
}

static long discard(const long *a)
{
    return a[2];
}

long dh_syscalls_perform(long number, const long a[6])
{
    long result;
    if (dh_engine->current && number == SYS_futex && dh_futex(a, &result))
        return result;
    switch (number) {
    case SYS_sched_yield:
        return dh_engine->current ? dh_engine_sched_yield() : 0;
    case SYS_exit_group:
        dh_engine_exited((int)a[0]);
        break;
    case SYS_write:
        if ((a[0] == 1 || a[0] == 2) && !(dh_engine->flags & DH_ENGINE_OUTPUT))
            return discard(a);
        break;
    }
    result = dh_raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (result == -EFAULT) {
        bool again = false;
        for (unsigned i = 0; i < 6; i++)
            again |= dh_snapshot_touch((uintptr_t)a[i], 65536);
        if (again)
            result = dh_raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    return result;
}

void dh_syscalls_dispatched(int signal, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    greg_t *r = c->uc_mcontext.gregs;
    long arguments[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    (void)signal;
    r[REG_RAX] = dh_syscalls_perform(info->si_syscall, arguments);
}
