/* System calls of the program and its libraries, intercepted by Syscall User Dispatch: undone after the schedule,
 * visible steps, or refused (syscalls.def). Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SYSCALLS_H
#define DH_RUNTIME_ENGINE_SYSTEM_SYSCALLS_H

#include "runtime/engine/engine.h"

#include <signal.h>

/* Intercepts those of the calling kernel thread from now on. */
bool dh_syscalls_begin(void);
/* With `all`, calls go to the kernel until this is called again; returns what was set before. */
bool dh_syscalls_allow(bool all);
/* The handler of SIGSYS. */
void dh_syscalls_dispatched(int signal, siginfo_t *info, void *context);
/* Makes the call as it is, unprotecting the pages that it writes. */
long dh_syscalls_pass_through(long number, const long arguments[6]);
/* As if the current task made it. */
long dh_syscalls_perform(long number, const long arguments[6]);
/* The call cannot be explored, or only in fresh processes, where it is made for real: ends the search with its name and
 * place. */
__attribute__((noreturn)) long dh_syscalls_cannot(long number);
/* The same for what fresh processes cannot do either. */
__attribute__((noreturn)) void dh_syscalls_never(long number);
__attribute__((noreturn)) void dh_syscalls_never_do(const char *what);
/* In a fresh process the present call is made for real, and this does not return. Else whatever is refused next can be
 * had in one. */
void dh_syscalls_for_real(void);
/* NULL: it has no row in the table. */
const char *dh_syscalls_name(long number);
/* For rows of the table: that, and a call that succeeds without effect. */
long dh_syscalls_refuse(long number, const long a[6]);
long dh_syscalls_nothing(long number, const long a[6]);

#endif
