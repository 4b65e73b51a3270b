/* The kernel's side of signals: write faults of the snapshot, dispatched system calls, faults of the program; and what
 * default actions do. Every other signal that the kernel delivers comes from outside, and has its default action. */
#include "runtime/engine/system/signals/signal.h"

#include "runtime/core/start.h"
#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/time/timers.h"

#include <ucontext.h>

enum { ALTERNATE = 64 << 10, WRITE_FAULT = 2, MASK_BYTES = 8, CANCELS = 32, SETS_IDS = 33 };

static bool install(int signal, void *handler, unsigned long flags)
{
    struct dh_kernel_sigaction a = {handler, flags | SA_SIGINFO | SA_NODEFER | DH_SA_RESTORER, dh_signal_restorer, 0};
    return dh_kernel_call(SYS_rt_sigaction, signal, (long)&a, 0, MASK_BYTES, 0, 0) == 0;
}

static void set_kernel_mask(uint64_t mask)
{
    dh_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, MASK_BYTES, 0, 0);
}

/* ---- the end by a signal ---- */

/* Natively, with the default action. */
static void die(int signal)
{
    install(signal, (void *)SIG_DFL, 0);
    set_kernel_mask(0);
    dh_kernel_call(SYS_tgkill, dh_process.pid, dh_kernel_call(SYS_gettid, 0, 0, 0, 0, 0, 0), signal, 0, 0, 0);
}

static enum dh_engine_end end_of(int signal)
{
    return signal == SIGABRT ? DH_ENGINE_ASSERTION : DH_ENGINE_CRASH;
}

/* With serial threads that go on, this returns, and the process then dies of it. */
static void crash(int signal, uint64_t address)
{
    struct dh_engine *e = dh_engine;
    e->signal = signal;
    e->fault_address = address;
    if (!(e->carrier->is_kernel && e->flags & DH_ENGINE_GO_ON))
        dh_engine_end_schedule(end_of(signal));
    e->end = end_of(signal);
    dh_engine_conclude();
    install(signal, (void *)SIG_DFL, 0);
    set_kernel_mask(0);
}

/* An end as any other, but with no status of the program's own. */
static void terminate(int signal)
{
    struct dh_engine *e = dh_engine;
    e->status = -signal;
    if (!e->carrier->is_kernel)
        dh_engine_end_schedule(DH_ENGINE_DONE);
    e->end = DH_ENGINE_DONE;
    dh_engine_conclude();
    die(signal);
}

static const uint64_t stops =
    1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) | 1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
static const uint64_t dumps = 1ull << (SIGQUIT - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1) |
                              1ull << (SIGABRT - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
                              1ull << (SIGSEGV - 1) | 1ull << (SIGSYS - 1) | 1ull << (SIGXCPU - 1) |
                              1ull << (SIGXFSZ - 1);

void dh_signals_act_by_default(int signal)
{
    int first = dh_signals_fatal_handler(dh_engine_self());
    if (dh_signals_is_ignored(signal))
        return;
    if (stops & dh_signal_bit(signal))
        dh_engine_cannot("signal %d stops the process", signal);
    if (!(dumps & dh_signal_bit(signal))) {
        terminate(signal);
        return;
    }
    crash(first ? first : signal, 0);
    die(signal);
}

/* ---- faults ---- */

static void on_fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *c = context;
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && (c->uc_mcontext.gregs[REG_ERR] & WRITE_FAULT) &&
        dh_snapshot_fault((uintptr_t)info->si_addr))
        return;
    if (!dh_engine->current) /* a defect of the engine */
        dh_engine_cannot("signal %d in the engine, about address %p", signal, info->si_addr);
    if (!dh_signals_hand_fault(signal, info, context))
        crash(signal, signal == SIGABRT || signal == SIGILL || signal == SIGFPE ? 0 : address);
}

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static bool install_own(void)
{
    bool ok = true;
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        ok &= install(faults[i], (void *)on_fault, SA_ONSTACK);
    return install(SIGSYS, (void *)dh_syscalls_dispatched, 0) && ok;
}

/* ---- taking over and giving back ---- */

static bool is_of_libc(int signal)
{
    return signal == CANCELS || signal == SETS_IDS;
}

static bool is_made_by_models(int signal)
{
    return signal == SIGPIPE || signal == SIGXFSZ;
}

/* A broken pipe is seen by who writes to it (EPIPE), and so is a file that may not grow (EFBIG). */
static void take_actions(void)
{
    for (int i = 1; i < DH_SIGNALS; i++) {
        dh_kernel_call(SYS_rt_sigaction, i, 0, (long)dh_signals_action(i), MASK_BYTES, 0, 0);
        if (i != SIGKILL && i != SIGSTOP && !is_of_libc(i))
            install(i, is_made_by_models(i) ? (void *)SIG_IGN : (void *)SIG_DFL, 0);
    }
}

static void take_pending(void)
{
    const uint64_t all = ~0ull;
    struct timespec none = {0, 0};
    siginfo_t info;
    long signal;
    while ((signal = dh_kernel_call(SYS_rt_sigtimedwait, (long)&all, (long)&info, (long)&none, MASK_BYTES, 0, 0)) > 0)
        dh_signals_raise(NULL, (int)signal, &info);
}

static void take_alternate_stack(struct dh_task *t)
{
    stack_t before = {0}, ours = {.ss_sp = dh_keep_private(ALTERNATE), .ss_size = ALTERNATE};
    dh_kernel_call(SYS_sigaltstack, ours.ss_sp ? (long)&ours : 0, (long)&before, 0, 0, 0, 0);
    if (before.ss_flags & SS_DISABLE)
        return;
    t->alternate_stack = (uintptr_t)before.ss_sp;
    t->alternate_size = before.ss_size;
}

bool dh_signals_begin(void)
{
    struct dh_task *main = &dh_engine->tasks[0];
    const uint64_t all = ~0ull;
    dh_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&main->mask, MASK_BYTES, 0, 0);
    main->signal_alternative = DH_NO_SIGNAL;
    dh_timers_begin();
    take_actions();
    take_pending();
    take_alternate_stack(main);
    bool ok = install_own();
    set_kernel_mask(0);
    return ok;
}

void dh_signals_give_back(void)
{
    const struct dh_task *t = dh_engine->current;
    for (int i = 1; i < DH_SIGNALS; i++)
        if (i != SIGKILL && i != SIGSTOP && !is_of_libc(i))
            dh_kernel_call(SYS_rt_sigaction, i, (long)dh_signals_action(i), 0, MASK_BYTES, 0, 0);
    if (t)
        set_kernel_mask(t->mask);
}
