/* The race checks of inline/race.c as functions, for instrumented shared libraries. Compiled by clang, as fast.c. */
#include "runtime/core/public_hooks.h"

#include "runtime/core/hook_table.h"
#include "runtime/core/thread_state.h"

#define INLINE static inline __attribute__((always_inline))
#define __dh_read1 check_read1
#define __dh_read2 check_read2
#define __dh_read4 check_read4
#define __dh_read8 check_read8
#define __dh_read16 check_read16
#define __dh_read4_shared check_read4_shared
#define __dh_read8_shared check_read8_shared
#define __dh_read_unaligned check_read_unaligned
#define __dh_write1 check_write1
#define __dh_write2 check_write2
#define __dh_write4 check_write4
#define __dh_write8 check_write8
#define __dh_write16 check_write16
#define __dh_write_unaligned check_write_unaligned
#define __dh_alive_read check_alive_read
#define __dh_alive_write check_alive_write
#define __dh_call check_call
#include "runtime/inline/race.c"
#undef __dh_read1
#undef __dh_read2
#undef __dh_read4
#undef __dh_read8
#undef __dh_read16
#undef __dh_read4_shared
#undef __dh_read8_shared
#undef __dh_read_unaligned
#undef __dh_write1
#undef __dh_write2
#undef __dh_write4
#undef __dh_write8
#undef __dh_write16
#undef __dh_write_unaligned
#undef __dh_alive_read
#undef __dh_alive_write
#undef __dh_call

/* Cells may not be mapped while the detector is off. */
#define HOOK(name, parameters, arguments)                                                                              \
    void __dh_##name parameters                                                                                        \
    {                                                                                                                  \
        if (__dh_thread.race)                                                                                          \
            check_##name arguments;                                                                                    \
    }
HOOK(read1, (const void *addr, uint32_t place), (addr, place))
HOOK(read2, (const void *addr, uint32_t place), (addr, place))
HOOK(read4, (const void *addr, uint32_t place), (addr, place))
HOOK(read8, (const void *addr, uint32_t place), (addr, place))
HOOK(read16, (const void *addr, uint32_t place), (addr, place))
HOOK(read4_shared, (const void *addr, uint32_t place), (addr, place))
HOOK(read8_shared, (const void *addr, uint32_t place), (addr, place))
HOOK(read_unaligned, (const void *addr, size_t size, uint32_t place), (addr, size, place))
HOOK(write1, (void *addr, uint64_t value, uint32_t place), (addr, value, place))
HOOK(write2, (void *addr, uint64_t value, uint32_t place), (addr, value, place))
HOOK(write4, (void *addr, uint64_t value, uint32_t place), (addr, value, place))
HOOK(write8, (void *addr, uint64_t value, uint32_t place), (addr, value, place))
HOOK(write16, (void *addr, uint32_t place), (addr, place))
HOOK(alive_read, (const void *addr, size_t size, uint32_t place), (addr, size, place))
HOOK(alive_write, (void *addr, size_t size, uint32_t place), (addr, size, place))
HOOK(write_unaligned, (void *addr, size_t size, uint32_t place), (addr, size, place))

void __dh_call(uint32_t place)
{
    check_call(place);
}
