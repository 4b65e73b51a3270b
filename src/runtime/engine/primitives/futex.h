/* The futex system call as visible steps. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_FUTEX_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_FUTEX_H

/* Of the current task; what is not modelled goes to the kernel. */
long dh_futex(long number, const long a[6]);

#endif
