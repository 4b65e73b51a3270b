/* System calls that are never dispatched to ourselves. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_SYSTEM_RAW_H
#define DH_RUNTIME_ENGINE_SYSTEM_RAW_H

#include "runtime/core/raw_syscall.h"

/* The one place of the process, besides the return from its handlers, whose calls the kernel always takes. */
long dh_raw(long number, long a, long b, long c, long d, long e, long f);
/* What signal handlers return to. */
void dh_raw_restorer(void);
extern const char dh_raw_begin[], dh_raw_end[];

/* As the kernel has it. */
struct dh_raw_sigaction {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
#define DH_RAW_RESTORER 0x04000000ul

#endif
