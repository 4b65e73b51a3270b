/* Actions, and signals that are pending for a task or the process; real-time signals queue up. */
#include "runtime/engine/system/signals/signal.h"

#include "runtime/engine/processes/children.h"
#include "runtime/engine/system/descriptors/signalfd.h"
#include "runtime/engine/system/time/timers.h"
#include "runtime/platform/bytes.h"

enum { QUEUE = 512, FIRST_REAL_TIME = 32, OF_PROCESS = -1 };

static struct {
    struct dh_kernel_sigaction actions[DH_SIGNALS];
    uint64_t pending; /* of the process */
    uint64_t raised;  /* by the program in this schedule, or by its timers */
    struct queued {
        siginfo_t info;
        int task;
    } queue[QUEUE];
    unsigned n;
} signals;

#define BIT(name) (1ull << (name - 1))
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH))
#define STOPS (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGABRT) | BIT(SIGTRAP) | BIT(SIGSYS))
#define LIBC_OWN (1ull << 31 | 1ull << 32)

/* ---- actions ---- */

struct dh_kernel_sigaction *dh_signals_action(int signal)
{
    return &signals.actions[signal];
}

bool dh_signals_is_handled(int signal)
{
    return signals.actions[signal].handler != (void *)SIG_DFL && signals.actions[signal].handler != (void *)SIG_IGN;
}

bool dh_signals_is_ignored(int signal)
{
    const void *handler = signals.actions[signal].handler;
    return handler == (void *)SIG_IGN || (handler == (void *)SIG_DFL && HARMLESS & dh_signal_bit(signal));
}

bool dh_signals_is_deadly(int signal)
{
    return signals.actions[signal].handler == (void *)SIG_DFL && !((HARMLESS | STOPS) & dh_signal_bit(signal));
}

bool dh_signals_have_handlers(void)
{
    for (int i = 1; i < DH_SIGNALS; i++)
        if (!((FAULTS | LIBC_OWN) & dh_signal_bit(i)) && dh_signals_is_handled(i))
            return true;
    return false;
}

/* ---- the queue ---- */

static uint64_t *set_of(struct dh_task *t)
{
    return t ? &t->signals : &signals.pending;
}

/* Blocked ones are kept even if they are ignored; of the process's, main's mask counts. */
static bool is_dropped(const struct dh_task *t, int signal)
{
    const struct dh_task *to = t ? t : &dh_engine->tasks[0];
    return dh_signals_is_ignored(signal) && !((to->mask | to->awaited) & dh_signal_bit(signal));
}

bool dh_signals_would_drop(int signal)
{
    return is_dropped(NULL, signal);
}

void dh_signals_raise(struct dh_task *t, int signal, const siginfo_t *info)
{
    uint64_t *set = set_of(t);
    signals.raised |= dh_signal_bit(signal);
    if (is_dropped(t, signal) || (signal < FIRST_REAL_TIME && *set & dh_signal_bit(signal)) || signals.n == QUEUE)
        return;
    struct queued *q = &signals.queue[signals.n++];
    if (info)
        dh_bytes_copy(&q->info, info, sizeof *info);
    else
        dh_bytes_zero(&q->info, sizeof q->info);
    q->info.si_signo = signal;
    q->task = t ? (int)t->index : OF_PROCESS;
    *set |= dh_signal_bit(signal);
    dh_signalfd_raised(signal);
}

static void remove_at(unsigned i, siginfo_t *out)
{
    struct queued gone = signals.queue[i];
    for (signals.n--; i < signals.n; i++)
        signals.queue[i] = signals.queue[i + 1];
    uint64_t *set = set_of(gone.task == OF_PROCESS ? NULL : &dh_engine->tasks[gone.task]);
    bool more = false;
    for (unsigned k = 0; k < signals.n; k++)
        more |= signals.queue[k].task == gone.task && signals.queue[k].info.si_signo == gone.info.si_signo;
    if (!more)
        *set &= ~dh_signal_bit(gone.info.si_signo);
    if (out)
        dh_bytes_copy(out, &gone.info, sizeof *out);
    if (gone.info.si_signo == SIGCHLD)
        dh_children_signal_taken();
}

static bool remove_first(int task, int signal, siginfo_t *out)
{
    for (unsigned i = 0; i < signals.n; i++)
        if (signals.queue[i].task == task && signals.queue[i].info.si_signo == signal) {
            remove_at(i, out);
            return true;
        }
    return false;
}

void dh_signals_flush(int signal)
{
    for (unsigned i = signals.n; i-- > 0;)
        if (signals.queue[i].info.si_signo == signal)
            remove_at(i, NULL);
}

/* ---- what a task may take ---- */

uint64_t dh_signals_pending(const struct dh_task *t)
{
    return t->signals | signals.pending;
}

uint64_t dh_signals_possible(const struct dh_task *t)
{
    return dh_signals_pending(t) | dh_timers_signals(t);
}

uint64_t dh_signals_takeable(const struct dh_task *t, uint64_t set)
{
    uint64_t found = dh_signals_possible(t) & set, left = found;
    for (; left; left &= left - 1) {
        int signal = __builtin_ctzll(left) + 1;
        if (dh_signals_is_ignored(signal))
            found &= ~dh_signal_bit(signal);
    }
    return found;
}

/* As the kernel: those of faults before others, else the lowest. */
static int first_of(uint64_t set)
{
    return __builtin_ctzll(set & FAULTS ? set & FAULTS : set) + 1;
}

bool dh_signals_dequeue(struct dh_task *t, uint64_t set, siginfo_t *out)
{
    if (!(dh_signals_pending(t) & set))
        dh_timers_expire_one(t, set);
    if (t->signals & set)
        return remove_first((int)t->index, first_of(t->signals & set), out);
    return signals.pending & set && remove_first(OF_PROCESS, first_of(signals.pending & set), out);
}

static uint64_t ends_wait(const struct dh_task *t)
{
    uint64_t set = 0;
    if (t->awaited)
        return t->awaited;
    for (int i = 1; i < DH_SIGNALS; i++)
        set |= dh_signals_is_handled(i) ? dh_signal_bit(i) : 0;
    return set & ~t->mask;
}

bool dh_signals_come_from_outside(const struct dh_task *t)
{
    return !(ends_wait(t) & signals.raised);
}

bool dh_signals_are_quiet(void)
{
    return !signals.n && !dh_timers_are_armed();
}
