/* The event hooks of the executable, empty: what a program costs before any detector listens. The shadow call
 * stack's are in frames.c, those of atomics in race/atomic_hooks.c, those of the race detector in race/, the exact ones
 * in engine/hooks.c, those of chosen places in stale/hooks.c. */
#include "runtime/core/public_hooks.h"

#include "runtime/core/hook_table.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EMPTY(...)                                                                                                     \
    __VA_ARGS__                                                                                                        \
    {                                                                                                                  \
    }

EMPTY(void __dh_atomic(void *addr, uint32_t what, uint32_t place))
