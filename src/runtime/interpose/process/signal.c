/* Signals: installing a handler comes before every run of it, as does sending what it handles; waiting for a signal
 * counts as handling it. The kernel gets a function of ours with the program's flags; sigaction answers the
 * program's own handler. */
#include "runtime/interpose/interpose.h"

#include <stdatomic.h>

typedef void handler(int, siginfo_t *, void *);

static _Atomic(handler *) handlers[NSIG];
/* Names of objects. */
static char installed[NSIG], sent[NSIG];

static bool is_signal(int signal)
{
    return signal > 0 && signal < NSIG;
}

/* Handlers may look at all three arguments, whatever their flags say. Reports leave out frames of this name. */
static void __dh_run_handler(int signal, siginfo_t *info, void *context)
{
    bool interrupted = dh_wait_interrupted();
    dh_signal_delivered();
    dh_sync_acquire(&installed[signal], DH_SYNC_SIGNAL);
    dh_sync_acquire(&sent[signal], DH_SYNC_SIGNAL);
    handler *f = atomic_load(&handlers[signal]);
    if (f)
        f(signal, info, context);
    dh_wait_resumed(interrupted);
}

static bool is_function(const void *f)
{
    return f != (const void *)SIG_DFL && f != (const void *)SIG_IGN && f != (const void *)SIG_ERR &&
           f != (const void *)SIG_HOLD;
}

/* What the kernel is to have for the program's handler. */
static void *install(int signal, void *wanted)
{
    if (!is_signal(signal) || !is_function(wanted))
        return wanted;
    atomic_store(&handlers[signal], (handler *)wanted);
    dh_sync_release_join(&installed[signal], DH_SYNC_SIGNAL);
    return (void *)__dh_run_handler;
}

/* The one of ours in the kernel is the program's, which was `before`. */
static void *uninstall(void *found, handler *before)
{
    return found == (void *)__dh_run_handler ? (void *)before : found;
}

static handler *current(int signal)
{
    return is_signal(signal) ? atomic_load(&handlers[signal]) : NULL;
}

static int dh_interposed_sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    dh_interpose_ready();
    handler *before = current(signal);
    struct sigaction ours;
    if (action) {
        ours = *action;
        ours.sa_handler = (__sighandler_t)install(signal, (void *)action->sa_handler);
    }
    int result = dh_real.sigaction(signal, action ? &ours : NULL, old);
    if (result == 0 && old)
        old->sa_handler = (__sighandler_t)uninstall((void *)old->sa_handler, before);
    if (result != 0 && action && is_signal(signal))
        atomic_store(&handlers[signal], before);
    return result;
}
DH_INTERPOSE(sigaction);

#define INSTALLS(name)                                                                                                 \
    static __sighandler_t dh_interposed_##name(int signal, __sighandler_t wanted)                                      \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        handler *before = current(signal);                                                                             \
        __sighandler_t old = dh_real.name(signal, (__sighandler_t)install(signal, (void *)wanted));                    \
        if (old == SIG_ERR && is_signal(signal))                                                                       \
            atomic_store(&handlers[signal], before);                                                                   \
        return (__sighandler_t)uninstall((void *)old, before);                                                         \
    }                                                                                                                  \
    DH_INTERPOSE(name);

INSTALLS(signal)
INSTALLS(ssignal)
INSTALLS(sysv_signal)
INSTALLS(__sysv_signal)

/* ---- sending ---- */

static void sending(int signal)
{
    if (is_signal(signal))
        dh_sync_release_join(&sent[signal], DH_SYNC_SIGNAL);
}

#define SENDS(name, parameters, arguments)                                                                             \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        sending(signal);                                                                                               \
        return dh_real.name arguments;                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

SENDS(kill, (pid_t pid, int signal), (pid, signal))
SENDS(killpg, (pid_t group, int signal), (group, signal))
SENDS(raise, (int signal), (signal))
SENDS(tgkill, (pid_t group, pid_t thread, int signal), (group, thread, signal))
SENDS(sigqueue, (pid_t pid, int signal, const union sigval value), (pid, signal, value))
static int dh_interposed_pthread_kill(pthread_t thread, int signal)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_kill, (thread, signal));
    sending(signal);
    return dh_real.pthread_kill(thread, signal);
}
DH_INTERPOSE(pthread_kill);

static int dh_interposed_pthread_sigqueue(pthread_t thread, int signal, const union sigval value)
{
    dh_interpose_ready();
    DH_BY_ENGINE(pthread_sigqueue, (thread, signal, value));
    sending(signal);
    return dh_real.pthread_sigqueue(thread, signal, value);
}
DH_INTERPOSE(pthread_sigqueue);

/* ---- waiting for one ---- */

static void received(int signal)
{
    if (is_signal(signal))
        dh_sync_acquire(&sent[signal], DH_SYNC_SIGNAL);
}

static int dh_interposed_sigwait(const sigset_t *set, int *signal)
{
    dh_interpose_ready();
    int result = DH_WAIT(dh_real.sigwait(set, signal));
    if (result == 0)
        received(*signal);
    return result;
}
DH_INTERPOSE(sigwait);

#define RECEIVES(name, parameters, arguments)                                                                          \
    static int dh_interposed_##name parameters                                                                         \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        int signal = DH_WAIT(dh_real.name arguments);                                                                  \
        received(signal);                                                                                              \
        return signal;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

RECEIVES(sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info), (set, info))
RECEIVES(sigtimedwait,
         (const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict timeout),
         (set, info, timeout))
