/* System calls that set actions and masks, and that send signals. */
#include "runtime/engine/system/signals/signal_calls.h"
#include "runtime/engine/processes/children.h"

#include "runtime/core/start.h"
#include "runtime/engine/primitives/primitives.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/tasks/task.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/wait.h>

static uint64_t never(void)
{
    return dh_signal_bit(SIGKILL) | dh_signal_bit(SIGSTOP);
}

static bool is_signal(long signal)
{
    return signal > 0 && signal < DH_SIGNALS;
}

/* ---- actions, masks, stacks ---- */

long dh_signals_sigaction(long number, const long a[6])
{
    const struct dh_kernel_sigaction *wanted = (const void *)a[1];
    struct dh_kernel_sigaction *out = (void *)a[2];
    (void)number;
    if (!is_signal(a[0]) || (wanted && never() & dh_signal_bit((int)a[0])))
        return -EINVAL;
    struct dh_kernel_sigaction *action = dh_signals_action((int)a[0]), before = *action;
    if (wanted) {
        *action = *wanted;
        dh_signals_order_before((int)a[0]);
        if (dh_signals_is_ignored((int)a[0]))
            dh_signals_flush((int)a[0]);
    }
    if (out)
        *out = before;
    return 0;
}

static uint64_t masked(uint64_t mask, long how, uint64_t set)
{
    return how == SIG_BLOCK ? mask | set : how == SIG_UNBLOCK ? mask & ~set : set;
}

long dh_signals_procmask(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    const uint64_t *set = (const uint64_t *)a[1];
    uint64_t before = t->mask;
    (void)number;
    if (set && a[0] != SIG_BLOCK && a[0] != SIG_UNBLOCK && a[0] != SIG_SETMASK)
        return -EINVAL;
    if (set)
        t->mask = masked(before, a[0], *set) & ~never();
    if (a[2])
        *(uint64_t *)a[2] = before;
    dh_signals_deliver(t);
    return 0;
}

long dh_signals_sigpending(long number, const long a[6])
{
    const struct dh_task *t = dh_engine_self();
    (void)number;
    *(uint64_t *)a[0] = dh_signals_pending(t) & t->mask;
    return 0;
}

long dh_signals_altstack(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    const stack_t *wanted = (const stack_t *)a[0];
    stack_t *out = (stack_t *)a[1];
    bool on_it = (uintptr_t)__builtin_frame_address(0) - t->alternate_stack < t->alternate_size;
    stack_t before = {.ss_sp = (void *)t->alternate_stack,
                      .ss_flags = on_it               ? SS_ONSTACK
                                  : t->alternate_size ? 0
                                                      : SS_DISABLE,
                      .ss_size = t->alternate_size};
    (void)number;
    if (wanted && on_it)
        return -EPERM;
    if (wanted && !(wanted->ss_flags & SS_DISABLE) && wanted->ss_size < 2048)
        return -ENOMEM;
    if (wanted) {
        bool off = wanted->ss_flags & SS_DISABLE;
        t->alternate_stack = off ? 0 : (uintptr_t)wanted->ss_sp;
        t->alternate_size = off ? 0 : wanted->ss_size;
    }
    if (out)
        *out = before;
    return 0;
}

/* ---- sending ---- */

static siginfo_t info_of(int signal, int code)
{
    siginfo_t i;
    dh_bytes_zero(&i, sizeof i);
    i.si_signo = signal;
    i.si_code = code;
    i.si_pid = dh_process.pid;
    i.si_uid = (uid_t)dh_kernel_call(SYS_getuid, 0, 0, 0, 0, 0, 0);
    return i;
}

static bool is_own_process(long pid)
{
    return pid == dh_process.pid;
}

static bool is_earlier_child(long pid)
{
    siginfo_t info;
    return pid > 0 &&
           dh_kernel_call(SYS_waitid, P_PID, pid, (long)&info, WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0) == 0;
}

/* Signals to other processes cannot be taken back; a fresh process has its children for itself. */
static long to_others(long number, const long a[6], long signal)
{
    if (signal == 0 || dh_engine->flags & DH_ENGINE_FOR_REAL)
        return dh_syscalls_pass_through(number, a);
    if (!is_earlier_child(a[0]))
        dh_syscalls_never(number);
    return dh_syscalls_cannot(number);
}

static long send(struct dh_task *to, int signal, const siginfo_t *info)
{
    if (signal)
        dh_signals_send(to, signal, info);
    return 0;
}

static struct dh_task *task_of(long tid)
{
    for (uint32_t i = 0; i < dh_engine->n_tasks; i++)
        if ((long)dh_engine->tasks[i].tid == tid && !dh_engine->tasks[i].ended)
            return &dh_engine->tasks[i];
    return NULL;
}

long dh_signals_kill(long number, const long a[6])
{
    siginfo_t info = info_of((int)a[1], SI_USER);
    if (a[1] && !is_signal(a[1]))
        return -EINVAL;
    long result;
    if (is_own_process(a[0]))
        return send(NULL, (int)a[1], &info);
    return dh_children_kill(a[0], a[1], &result) ? result : to_others(number, a, a[1]);
}

static long to_thread(long number, const long a[6], long tid, long signal, const siginfo_t *info)
{
    /* The kernel's number of all coroutines is main's. */
    struct dh_task *to = task_of(tid);
    if (signal && !is_signal(signal))
        return -EINVAL;
    if (to)
        return send(to, (int)signal, info);
    return number == SYS_tkill || is_own_process(a[0]) ? -ESRCH : to_others(number, a, signal);
}

/* And tkill. */
long dh_signals_tgkill(long number, const long a[6])
{
    long tid = a[number == SYS_tgkill], signal = a[number == SYS_tgkill ? 2 : 1];
    siginfo_t info = info_of((int)signal, SI_TKILL);
    return to_thread(number, a, tid, signal, &info);
}

long dh_signals_queue(long number, const long a[6])
{
    if (a[1] && !is_signal(a[1]))
        return -EINVAL;
    return is_own_process(a[0]) ? send(NULL, (int)a[1], (const siginfo_t *)a[2]) : to_others(number, a, a[1]);
}

long dh_signals_tgqueue(long number, const long a[6])
{
    return to_thread(number, a, a[1], a[2], (const siginfo_t *)a[3]);
}

/* ---- by pthread_t ---- */

static int send_to_handle(pthread_t handle, int signal, const siginfo_t *info)
{
    struct dh_task *t = dh_task_find_by_handle(handle);
    if (signal < 0 || signal >= DH_SIGNALS)
        return EINVAL;
    if (!t || t->ended)
        return t && !t->joined ? 0 : ESRCH;
    return (int)send(t, signal, info);
}

int dh_engine_pthread_kill(pthread_t handle, int signal)
{
    siginfo_t info = info_of(signal, SI_TKILL);
    return send_to_handle(handle, signal, &info);
}

int dh_engine_pthread_sigqueue(pthread_t handle, int signal, union sigval value)
{
    siginfo_t info = info_of(signal, SI_QUEUE);
    info.si_value = value;
    return send_to_handle(handle, signal, &info);
}
