/* The event hooks of the executable, empty: what a program costs before any detector listens. The shadow call
 * stack's are in frames.c, the atomics' in atomics.c, the race detector's in race_access.c,
 * the exact ones in engine/hooks.c, those of chosen places in stale_hooks.c. */
#include "runtime/core/public_hooks.h"

#include "runtime/core/hook_table.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EMPTY(...)                                                                                                     \
    __VA_ARGS__                                                                                                        \
    {                                                                                                                  \
    }

EMPTY(void __dh_atomic(void *addr, uint32_t what, uint32_t place))
