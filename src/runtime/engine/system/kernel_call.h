/* System calls that always reach the kernel: the range of code that Syscall User Dispatch exempts. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_KERNEL_CALL_H
#define DH_RUNTIME_ENGINE_SYSTEM_KERNEL_CALL_H

#include "runtime/platform/raw_syscall.h"

/* Returns what the kernel does, negative errno included. */
long dh_kernel_call(long number, long a, long b, long c, long d, long e, long f);
/* The return from signal handlers, exempt as well. */
void dh_signal_restorer(void);
extern const char dh_kernel_call_begin[], dh_kernel_call_end[];

/* The kernel's layout. */
struct dh_kernel_sigaction {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
#define DH_SA_RESTORER 0x04000000ul

#endif
