/* System calls that are never dispatched to ourselves. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_KERNEL_CALL_H
#define DH_RUNTIME_ENGINE_SYSTEM_KERNEL_CALL_H

#include "runtime/core/raw_syscall.h"

/* The one place of the process, besides the return from its handlers, whose calls the kernel always takes. */
long dh_kernel_call(long number, long a, long b, long c, long d, long e, long f);
/* What signal handlers return to. */
void dh_signal_restorer(void);
extern const char dh_kernel_call_begin[], dh_kernel_call_end[];

/* As the kernel has it. */
struct dh_kernel_sigaction {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
#define DH_SA_RESTORER 0x04000000ul

#endif
