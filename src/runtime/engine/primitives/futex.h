/* The futex system call as visible steps. Layer: runtime. */
#ifndef DH_RUNTIME_ENGINE_PRIMITIVES_FUTEX_H
#define DH_RUNTIME_ENGINE_PRIMITIVES_FUTEX_H

#include <stdbool.h>

/* Of the current task; false: the operation is not modelled. */
bool dh_futex(const long arguments[6], long *result);

#endif
