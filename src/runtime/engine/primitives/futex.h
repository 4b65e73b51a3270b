/* Futexes of libraries. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_FUTEX_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_FUTEX_H

#include <stdbool.h>

/* The system call with these arguments, by the current task; false: of a kind that is not modelled. */
bool dh_futex(const long arguments[6], long *result);

#endif
