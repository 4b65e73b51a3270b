/* Included by all.c and race_hooks.c. The race detector's checks as they are inlined into executables. Layer: runtime.
 * What the cell says already need not be said again; everything else goes out of line, where every register is left as
 * it was. */
#include "event/hooks.h"
#include "runtime/core/thread_state.h"
#include "runtime/race/fast.h"
#include "runtime/race/shadow.h"
#include "runtime/race/thread_slots.h"

#define RARE(x) __builtin_expect(x, 0)
#define INLINE_PART static inline __attribute__((always_inline))

INLINE_PART uint32_t read_half(const uint64_t *cell)
{
    return __atomic_load_n((const uint32_t *)cell, __ATOMIC_RELAXED);
}

INLINE_PART uint64_t whole(const uint64_t *cell)
{
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

/* Part of a granule: the epoch must be ours and speak of these bytes. */
INLINE_PART int says(uint32_t half, uint32_t own, uintptr_t addr, uint32_t bytes)
{
    return ((half ^ own) & (0x0FFFFFFFu | bytes << 28 << (addr & 3))) == 0;
}

/* Shared data that was read in this epoch: what is left of the word when the address and the stamp are taken away are
 * the granules that were not. */
INLINE_PART uint64_t not_known(uintptr_t addr)
{
    return (addr & DH_KNOWN_ABOVE) ^ __dh_thread.stamp ^ __dh_thread.known[addr >> 6 & (DH_KNOWN_LINES - 1)];
}

INLINE_PART int is_known4(const void *addr)
{
    return !(not_known((uintptr_t)addr) & __dh_thread.must_go4[(uintptr_t)addr >> 2 & 15]);
}

/* Aligned, so that no line is crossed. */
INLINE_PART int is_known8(const void *addr)
{
    return !(not_known((uintptr_t)addr) & __dh_thread.must_go8[(uintptr_t)addr >> 3 & 7]);
}

#define PART(size, bytes)                                                                                              \
    INLINE void __dh_read##size(const void *addr, uint32_t place)                                                      \
    {                                                                                                                  \
        uint32_t half = read_half(dh_shadow_of((uintptr_t)addr));                                                      \
        if (RARE(!says(half, (uint32_t)__dh_thread.own, (uintptr_t)addr, bytes)))                                      \
            __dh_read##size##_slow(addr, place);                                                                       \
    }                                                                                                                  \
    INLINE void __dh_write##size(void *addr, uint64_t value, uint32_t place)                                           \
    {                                                                                                                  \
        uint64_t cell = whole(dh_shadow_of((uintptr_t)addr));                                                          \
        uint32_t own = (uint32_t)__dh_thread.own;                                                                      \
        if (RARE(!says((uint32_t)(cell >> 32), own, (uintptr_t)addr, bytes)))                                          \
            __dh_write##size##_slow(addr, value, place);                                                               \
    }
PART(1, 1u)
PART(2, 3u)

INLINE_PART int is_own4(const void *addr)
{
    return read_half(dh_shadow_of((uintptr_t)addr)) == (uint32_t)__dh_thread.own;
}

INLINE_PART int is_own8(const void *addr)
{
    const uint64_t *cell = dh_shadow_of((uintptr_t)addr);
    uint32_t own = (uint32_t)__dh_thread.own;
    return read_half(cell) == own && read_half(cell + 1) == own;
}

INLINE void __dh_read4(const void *addr, uint32_t place)
{
    if (RARE(!is_own4(addr)))
        __dh_read4_slow(addr, place);
}

INLINE void __dh_read8(const void *addr, uint32_t place)
{
    if (RARE(!is_own8(addr)))
        __dh_read8_slow(addr, place);
}

/* Where the function only reads it is more likely shared, and known. */
INLINE void __dh_read4_shared(const void *addr, uint32_t place)
{
    if (RARE(!is_known4(addr)) && !is_own4(addr))
        __dh_read4_shared_slow(addr, place);
}

INLINE void __dh_read8_shared(const void *addr, uint32_t place)
{
    if (RARE(!is_known8(addr)) && !is_own8(addr))
        __dh_read8_shared_slow(addr, place);
}

INLINE void __dh_write4(void *addr, uint64_t value, uint32_t place)
{
    if (RARE(whole(dh_shadow_of((uintptr_t)addr)) != __dh_thread.own))
        __dh_write4_slow(addr, value, place);
}

INLINE void __dh_write8(void *addr, uint64_t value, uint32_t place)
{
    const uint64_t *cell = dh_shadow_of((uintptr_t)addr);
    uint64_t own = __dh_thread.own;
    if (RARE(whole(cell) != own || whole(cell + 1) != own))
        __dh_write8_slow(addr, value, place);
}

INLINE void __dh_read16(const void *addr, uint32_t place)
{
    const uint64_t *cell = dh_shadow_of((uintptr_t)addr);
    uint32_t own = (uint32_t)__dh_thread.own;
    if (RARE(((read_half(cell) ^ own) | (read_half(cell + 1) ^ own) | (read_half(cell + 2) ^ own) |
              (read_half(cell + 3) ^ own)) != 0))
        __dh_read16_slow(addr, place);
}

INLINE void __dh_write16(void *addr, uint32_t place)
{
    const uint64_t *cell = dh_shadow_of((uintptr_t)addr);
    uint64_t own = __dh_thread.own;
    if (RARE(((whole(cell) ^ own) | (whole(cell + 1) ^ own) | (whole(cell + 2) ^ own) | (whole(cell + 3) ^ own)) != 0))
        __dh_write16_slow(addr, place);
}

/* The mark of freed memory is in both halves. */
INLINE_PART int is_freed(const void *addr)
{
    return dh_epoch_slot(read_half(dh_shadow_of((uintptr_t)addr))) == DH_SLOT_FREED;
}

INLINE void __dh_alive_read(const void *addr, size_t size, uint32_t place)
{
    if (RARE(is_freed(addr)))
        __dh_read_unaligned_slow(addr, size, place);
}

INLINE void __dh_alive_write(void *addr, size_t size, uint32_t place)
{
    if (RARE(is_freed(addr)))
        __dh_write_unaligned_slow(addr, size, place);
}

/* Anywhere: every granule that is touched must be ours as a whole. The size is constant, so that little of this is
 * left. */
INLINE void __dh_read_unaligned(const void *addr, size_t size, uint32_t place)
{
    const uint64_t *first = dh_shadow_of((uintptr_t)addr), *last = dh_shadow_of((uintptr_t)addr + size - 1);
    uint32_t own = (uint32_t)__dh_thread.own, others = (read_half(first) ^ own) | (read_half(last) ^ own);
    if (size > 4)
        others |= read_half(first + 1) ^ own;
    if (size > 8)
        others |= (read_half(first + 2) ^ own) | (read_half(first + 3) ^ own);
    if (RARE(others != 0))
        __dh_read_unaligned_slow(addr, size, place);
}

INLINE void __dh_write_unaligned(void *addr, size_t size, uint32_t place)
{
    const uint64_t *first = dh_shadow_of((uintptr_t)addr), *last = dh_shadow_of((uintptr_t)addr + size - 1);
    uint64_t own = __dh_thread.own, others = (whole(first) ^ own) | (whole(last) ^ own);
    if (size > 4)
        others |= whole(first + 1) ^ own;
    if (size > 8)
        others |= (whole(first + 2) ^ own) | (whole(first + 3) ^ own);
    if (RARE(others != 0))
        __dh_write_unaligned_slow(addr, size, place);
}

INLINE void __dh_call(uint32_t place)
{
    __dh_thread.place = place;
}
