/* The event hooks of the executable, empty: what a program costs before any detector listens. The shadow call
 * stack's are in frames.c, the atomics' in atomics.c, the race detector's in race_access.c,
 * the exact ones in engine/hooks.c. */
#include "runtime/public_hooks.h"

#include "runtime/hook_table.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

#define EMPTY(...)                                                                                                     \
    __VA_ARGS__                                                                                                        \
    {                                                                                                                  \
    }
#define SAME(type, size)                                                                                               \
    type __dh_load##size(const void *addr, type value, uint32_t place)                                                 \
    {                                                                                                                  \
        return value;                                                                                                  \
    }

EMPTY(void __dh_atomic(void *addr, uint32_t what, uint32_t place))
SAME(uint8_t, 1)
SAME(uint16_t, 2)
SAME(uint32_t, 4)
SAME(uint64_t, 8)
EMPTY(void __dh_load_any(const void *addr, void *value, size_t size, uint32_t place))
