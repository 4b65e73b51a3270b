#include "runtime/engine/signals.h"

#include "runtime/engine/raw.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/syscalls.h"

#include <signal.h>
#include <ucontext.h>

enum { ALTERNATE = 64 << 10, WRITE_FAULT = 2, MASK_BYTES = 8 };

static uint64_t mask_at_snapshot;

static bool install(int signal, void *handler, unsigned long flags)
{
    struct dh_raw_sigaction a = {handler, flags | SA_SIGINFO | SA_NODEFER | DH_RAW_RESTORER, dh_raw_restorer, 0};
    return dh_raw(SYS_rt_sigaction, signal, (long)&a, 0, MASK_BYTES, 0, 0) == 0;
}

static void ends(int signal, siginfo_t *info)
{
    struct dh_engine *e = dh_engine;
    e->signal = signal;
    e->fault_address = (uint64_t)(uintptr_t)info->si_addr;
    if (signal == SIGABRT || signal == SIGILL || signal == SIGFPE)
        e->fault_address = 0;
    if (!e->current) /* our own fault */
        dh_engine_cannot("signal %d in the engine, about address %p", signal, info->si_addr);
    enum dh_engine_end how = signal == SIGABRT ? DH_ENGINE_ASSERTION : DH_ENGINE_CRASH;
    if (!(e->carrier->is_kernel && e->flags & DH_ENGINE_GO_ON))
        dh_engine_end_schedule(how);
    /* The process ends of it as it would by itself. */
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
    ends(signal, info);
}

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

bool dh_signals_ours(int signal)
{
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == signal)
            return true;
    return signal == SIGSYS;
}

bool dh_signals_begin(void)
{
    stack_t alternate = {.ss_sp = dh_keep_private(ALTERNATE), .ss_size = ALTERNATE};
    if (!alternate.ss_sp || dh_raw(SYS_sigaltstack, (long)&alternate, 0, 0, 0, 0, 0) != 0)
        return false;
    bool ok = true;
    for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++)
        ok &= install(fatal[i], (void *)on_fault, SA_ONSTACK);
    dh_raw(SYS_rt_sigprocmask, SIG_SETMASK, 0, (long)&mask_at_snapshot, MASK_BYTES, 0, 0);
    return ok && install(SIGSYS, (void *)dh_syscalls_dispatched, 0);
}

void dh_signals_reset(void)
{
    dh_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask_at_snapshot, 0, MASK_BYTES, 0, 0);
}
