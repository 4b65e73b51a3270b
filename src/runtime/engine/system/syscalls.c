#include "runtime/engine/system/syscalls.h"

#include "runtime/core/start.h"
#include "runtime/engine/ends/outcome.h"
#include "runtime/engine/primitives/futex.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/processes/children.h"
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/event.h"
#include "runtime/engine/system/descriptors/for_real.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/descriptors/signalfd.h"
#include "runtime/engine/system/files/directory_listing.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/memory.h"
#include "runtime/engine/system/random_bytes.h"
#include "runtime/engine/system/scheduling.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/signals/signal_calls.h"
#include "runtime/engine/system/sockets/socket.h"
#include "runtime/engine/system/time/time.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/engine/tasks/serial_threads.h"

#include "runtime/platform/print.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif
enum { ALLOW = 0, BLOCK = 1, CALLS = 512, INSTRUCTION = 2, FAR = 1 << 20 };

static uint8_t *common; /* selector byte of coroutines */

/* Serial threads have one each: an ended one goes on to libc's own end of the thread, where a dispatched call would
 * kill the process, while others run. */
static uint8_t *selector_of_self(void)
{
    struct dh_task *t = dh_engine->carrier->is_kernel ? dh_engine->current : NULL;
    return t ? &t->selector : common;
}

bool dh_syscalls_begin(void)
{
    if (!common)
        common = dh_keep_alloc(1);
    if (!common)
        return false;
    uint8_t *selector = selector_of_self();
    *selector = BLOCK;
    return dh_kernel_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, (long)dh_kernel_call_begin,
                          dh_kernel_call_end - dh_kernel_call_begin, (long)selector, 0) == 0;
}

bool dh_syscalls_allow(bool all)
{
    uint8_t *selector = selector_of_self();
    bool before = *selector == ALLOW;
    *selector = all ? ALLOW : BLOCK;
    return before;
}

/* ---- system calls ---- */

/* On protected pages the kernel fails with EFAULT: unprotects more and more of what the arguments point to. */
long dh_syscalls_pass_through(long number, const long a[6])
{
    long result = dh_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    for (size_t size = DH_ENGINE_PAGE; result == -EFAULT && size <= FAR; size *= 16) {
        bool again = false;
        for (unsigned i = 0; i < 6; i++)
            again |= dh_snapshot_unprotect((uintptr_t)a[i], size);
        if (again)
            result = dh_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
    return result;
}

void dh_syscalls_never_do(const char *what)
{
    dh_engine_cannot_do(what, dh_engine->current ? dh_engine->current->call_sp : 0);
}

void dh_syscalls_never(long number)
{
    char unnamed[32];
    const char *name = dh_syscalls_name(number);
    if (!name)
        dh_print_text(unnamed, sizeof unnamed, "system call %d", (int)number);
    dh_syscalls_never_do(name ? name : unnamed);
}

void dh_syscalls_for_real(void)
{
    if (dh_fresh_processes_on() && dh_engine->current)
        __builtin_longjmp(dh_engine->current->refused, 1);
    dh_engine->control->progress.irrevocable = 1;
}

long dh_syscalls_cannot(long number)
{
    dh_syscalls_for_real();
    dh_syscalls_never(number);
}

long dh_syscalls_nothing(long number, const long a[6])
{
    (void)number, (void)a;
    return 0;
}

long dh_syscalls_refuse(long number, const long a[6])
{
    (void)a;
    return dh_syscalls_cannot(number);
}

/* What replaces the process leaves nobody to explore it. */
static long refuses_always(long number, const long a[6])
{
    (void)a;
    dh_syscalls_never(number);
}

/* Asking changes nothing. */
static long asks_personality(long number, const long a[6])
{
    return (unsigned)a[0] == 0xffffffff ? dh_syscalls_pass_through(number, a) : dh_syscalls_cannot(number);
}

static long exits(long number, const long a[6])
{
    dh_engine_program_exits((int)a[0]);
    return dh_kernel_call(number, a[0], 0, 0, 0, 0, 0);
}

static long yields(long number, const long a[6])
{
    (void)number, (void)a;
    return dh_engine_sched_yield();
}

static long sleeps(long number, const long a[6])
{
    const struct timespec *time = (const struct timespec *)a[number == SYS_clock_nanosleep ? 2 : 0];
    if (number == SYS_clock_nanosleep)
        return -dh_engine_clock_nanosleep((clockid_t)a[0], (int)a[1], time, (struct timespec *)a[3]);
    return -dh_engine_clock_nanosleep(CLOCK_MONOTONIC, 0, time, (struct timespec *)a[1]);
}

/* The same in every schedule. */
static long random_bytes(long number, const long a[6])
{
    unsigned char *out = (unsigned char *)a[0];
    (void)number;
    for (long i = 0; i < a[1]; i++)
        out[i] = dh_engine_random_byte();
    return a[1];
}

static long thread_id(long number, const long a[6])
{
    (void)number, (void)a;
    return dh_engine->current->tid;
}

/* The same where a schedule is a child of the process that began it. */
static long process_id(long number, const long a[6])
{
    (void)number, (void)a;
    return dh_process.pid;
}

/* ---- the table ---- */

/* Calls without a row have no lasting effect. */
#define DH_CALL(name, function) DH_CALL_OR_REAL(name, function, dh_syscalls_pass_through)
#define DH_CALL_OR_REAL(name, function, real) [SYS_##name] = {#name, function, real},
static const struct call {
    const char *name;
    long (*perform)(long number, const long a[6]);
    long (*for_real)(long number, const long a[6]); /* with DH_ENGINE_FOR_REAL */
} calls[CALLS] = {
#include "runtime/engine/system/syscalls.def"
};
#undef DH_CALL
#undef DH_CALL_OR_REAL

const char *dh_syscalls_name(long number)
{
    return number >= 0 && number < CALLS ? calls[number].name : NULL;
}

static bool begins_process(long number)
{
    return number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork;
}

/* What would be refused is done for real in a fresh process. */
static __attribute__((noinline)) long perform_or_call(const struct call *call, long number, const long a[6])
{
    if (__builtin_setjmp(dh_engine->current->refused) == 0)
        return call->perform(number, a);
    return dh_serial_threads_call(number, a);
}

long dh_syscalls_perform(long number, const long a[6])
{
    const struct call *call = number >= 0 && number < CALLS ? &calls[number] : NULL;
    if (!dh_engine->current)
        return dh_syscalls_pass_through(number, a);
    dh_outcome_call(number, a);
    if (!call || !call->perform)
        return dh_syscalls_pass_through(number, a);
    bool for_real = dh_engine->flags & DH_ENGINE_FOR_REAL;
    long result = dh_fresh_processes_on() ? perform_or_call(call, number, a)
                                          : (for_real ? call->for_real : call->perform)(number, a);
    if (!for_real && number != SYS_exit_group)
        dh_children_report();
    return result;
}

void dh_syscalls_dispatched(int signal, siginfo_t *info, void *context)
{
    ucontext_t *c = context;
    greg_t *r = c->uc_mcontext.gregs;
    long arguments[6] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    (void)signal;
    if (dh_engine->current)
        dh_engine->current->call_sp = (uintptr_t)r[REG_RSP];
    /* The return from a handler: the kernel expects its frame on top of the stack. */
    if (info->si_syscall == SYS_rt_sigreturn) {
        r[REG_RIP] = (greg_t)dh_signal_restorer;
        return;
    }
    if (begins_process(info->si_syscall) && !(dh_engine->flags & DH_ENGINE_FOR_REAL) && dh_engine->current) {
        long stack;
        r[REG_RAX] = dh_children_fork(info->si_syscall, arguments, &stack);
        if (stack)
            r[REG_RSP] = stack;
        return;
    }
    /* The child starts where the call returns, perhaps on another stack. */
    if (begins_process(info->si_syscall)) {
        if (!dh_engine->carrier->is_kernel)
            dh_syscalls_cannot(info->si_syscall);
        dh_syscalls_allow(true); /* until the thread parks */
        r[REG_RIP] -= INSTRUCTION;
        r[REG_RAX] = info->si_syscall;
        return;
    }
    r[REG_RAX] = dh_syscalls_perform(info->si_syscall, arguments);
}
