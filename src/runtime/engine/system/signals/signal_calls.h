/* System calls about signals (syscalls.def). Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SIGNALS_SIGNAL_CALLS_H
#define DH_RUNTIME_ENGINE_SYSTEM_SIGNALS_SIGNAL_CALLS_H

/* ---- signal_calls.c ---- */
long dh_signals_sigaction(long number, const long a[6]);
long dh_signals_procmask(long number, const long a[6]);
long dh_signals_sigpending(long number, const long a[6]);
long dh_signals_altstack(long number, const long a[6]);
long dh_signals_kill(long number, const long a[6]);
long dh_signals_tgkill(long number, const long a[6]);
long dh_signals_queue(long number, const long a[6]);
long dh_signals_tgqueue(long number, const long a[6]);

/* ---- signal_masks.c ---- */
long dh_masked_poll(long number, const long a[6]);
long dh_masked_select(long number, const long a[6]);
long dh_masked_epoll(long number, const long a[6]);

/* ---- signal_wait.c ---- */
long dh_signals_pause(long number, const long a[6]);
long dh_signals_suspend(long number, const long a[6]);
long dh_signals_timedwait(long number, const long a[6]);

#endif
