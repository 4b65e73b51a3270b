/* System calls of the program and its libraries, by Syscall User Dispatch. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_SYSCALLS_H
#define DH_RUNTIME_ENGINE_SYSTEM_SYSCALLS_H

#include "runtime/engine/engine.h"

#include <signal.h>

/* For the calling kernel thread, from now on. */
bool dh_syscalls_begin(void);
/* Until it is told otherwise, calls go to the kernel as they are; answers whether they did before. */
bool dh_syscalls_allow(bool all);
/* The handler of SIGSYS. */
void dh_syscalls_dispatched(int signal, siginfo_t *info, void *context);
/* Does what the call would, with undo and overlay: negative errno on failure. */
long dh_syscalls_perform(long number, const long arguments[6]);
/* As it is, but protected pages are let go for it. */
long dh_syscalls_pass_through(long number, const long arguments[6]);
/* Ends the search, saying where it happened. */
__attribute__((noreturn)) long dh_syscalls_cannot(long number);

#endif
