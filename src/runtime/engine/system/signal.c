#include "runtime/engine/system/signal.h"

#include "runtime/core/start.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/children.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/undo.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

enum { ALTERNATE = 64 << 10, WRITE_FAULT = 2, MASK_BYTES = 8 };

static uint64_t mask_at_snapshot;

static bool install(int signal, void *handler, unsigned long flags)
{
    struct dh_kernel_sigaction a = {handler, flags | SA_SIGINFO | SA_NODEFER | DH_SA_RESTORER, dh_signal_restorer, 0};
    return dh_kernel_call(SYS_rt_sigaction, signal, (long)&a, 0, MASK_BYTES, 0, 0) == 0;
}

static void end_by_signal(int signal, siginfo_t *info)
{
    struct dh_engine *e = dh_engine;
    e->signal = signal;
    e->fault_address = (uint64_t)(uintptr_t)info->si_addr;
    if (signal == SIGABRT || signal == SIGILL || signal == SIGFPE)
        e->fault_address = 0;
    if (!e->current) /* a defect of the engine */
        dh_engine_cannot("signal %d in the engine, about address %p", signal, info->si_addr);
    enum dh_engine_end how = signal == SIGABRT ? DH_ENGINE_ASSERTION : DH_ENGINE_CRASH;
    if (!(e->carrier->is_kernel && e->flags & DH_ENGINE_GO_ON))
        dh_engine_end_schedule(how);
    /* The process then dies of it. */
    e->end = how;
    dh_engine_conclude();
    install(signal, (void *)SIG_DFL, 0);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && (c->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT) &&
        dh_snapshot_fault((uintptr_t)info->si_addr))
        return;
    end_by_signal(signal, info);
}

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* Signals whose handlers the engine needs: the program cannot set them. */
static bool is_reserved(int signal)
{
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == signal)
            return true;
    return signal == SIGSYS;
}

bool dh_signals_begin(void)
{
    stack_t alternate = {.ss_sp = dh_keep_private(ALTERNATE), .ss_size = ALTERNATE};
    if (!alternate.ss_sp || dh_kernel_call(SYS_sigaltstack, (long)&alternate, 0, 0, 0, 0, 0) != 0)
        return false;
    bool ok = true;
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        ok &= install(fatal[i], (void *)on_fault, SA_ONSTACK);
    dh_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, (long)&mask_at_snapshot, MASK_BYTES, 0, 0);
    dh_engine->tasks[0].mask = mask_at_snapshot;
    return ok && install(SIGSYS, (void *)dh_syscalls_dispatched, 0);
}

void dh_signals_restore_mask(void)
{
    dh_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask_at_snapshot, 0, MASK_BYTES, 0, 0);
}

/* Is the default action to end the process? */
static bool ends_process(int signal)
{
    static const uint64_t harmless = 1ull << (SIGCHLD - 1) | 1ull << (SIGCONT - 1) | 1ull << (SIGURG - 1) |
                                     1ull << (SIGWINCH - 1) | 1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) |
                                     1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
    struct dh_kernel_sigaction now = {0};
    return !(harmless >> (signal - 1) & 1) &&
           dh_kernel_call(SYS_rt_sigaction, signal, 0, (long)&now, MASK_BYTES, 0, 0) == 0 &&
           now.handler == (void *)SIG_DFL;
}

/* A handler may park, end the schedule or longjmp: so the kernel's mask is set before every delivery. */
void dh_signals_deliver(struct dh_task *t)
{
    while (t->signals & ~t->mask) {
        int signal = __builtin_ctzll(t->signals & ~t->mask) + 1;
        t->signals &= ~(1ull << (signal - 1));
        if (ends_process(signal))
            dh_engine_program_exits(128 + signal);
        dh_undo_log(DH_UNDO_MASK, 0, 0, 0);
        dh_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&t->mask, 0, MASK_BYTES, 0, 0);
        dh_kernel_call(SYS_tgkill, dh_process.pid, dh_kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0), signal, 0, 0, 0);
    }
}

void dh_signals_raise(struct dh_task *t, int signal)
{
    t->signals |= 1ull << (signal - 1);
    dh_signals_deliver(t);
}

static uint64_t masked(uint64_t mask, long how, uint64_t set)
{
    return how == SIG_BLOCK ? mask | set : how == SIG_UNBLOCK ? mask & ~set : set;
}

long dh_signals_mask(long number, const long a[6])
{
    long how = a[0];
    const uint64_t *set = (const uint64_t *)a[1];
    uint64_t *before = (uint64_t *)a[2];
    const uint64_t never = 1ull << (SIGKILL - 1) | 1ull << (SIGSTOP - 1);
    struct dh_task *t = dh_engine->current;
    uint64_t old = t->mask;
    (void)number;
    if (set && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return -EINVAL;
    if (set)
        t->mask = masked(old, how, *set) & ~never;
    if (before)
        *before = old;
    dh_signals_deliver(t);
    return 0;
}

long dh_signals_action(long number, const long a[6])
{
    struct dh_kernel_sigaction before;
    if (a[1] && is_reserved((int)a[0]))
        return 0;
    if (a[1] && dh_kernel_call(number, a[0], 0, (long)&before, a[3], 0, 0) == 0)
        dh_undo_log_handler((int)a[0], &before, sizeof before);
    return dh_syscalls_pass_through(number, a);
}

/* To the task itself: libc's raise and abort. The kernel has one id for all coroutines. */
long dh_signals_kill(long number, const long a[6])
{
    long pid = dh_process.pid, self = dh_kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    long to = number == SYS_tgkill ? a[1] : a[0], signal = number == SYS_tgkill ? a[2] : a[1];
    bool is_self = to == (long)dh_engine->current->tid || to == self || (number == SYS_kill && to == pid);
    long result;
    if (number == SYS_kill && dh_children_kill(to, signal, &result))
        return result;
    if (signal <= 0 || signal >= NSIG || (!is_self && dh_engine->carrier->is_kernel))
        return dh_syscalls_pass_through(number, a);
    if (!is_self)
        return dh_syscalls_cannot(number);
    dh_signals_raise(dh_engine->current, (int)signal);
    return 0;
}
