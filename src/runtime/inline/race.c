/* Included by all.c and race/hooks.c. The race checks, inlined into executables. Layer: runtime. An access that the
 * shadow cell has already (FastTrack's same epoch) needs nothing; all others call the slow path, which preserves all
 * registers. */
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

INLINE_PART uint64_t load_cell(const uint64_t *cell)
{
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

/* Part of a granule: the epoch must be the thread's own and cover these bytes. */
INLINE_PART int has_bytes(uint32_t half, uint32_t own, uintptr_t addr, uint32_t bytes)
{
    return ((half ^ own) & (0x0FFFFFFFu | bytes << 28 << (addr & 3))) == 0;
}

/* Filter of shared data read in this epoch: the word, xor address and stamp, has a bit for each granule that was not
 * read. */
INLINE_PART uint64_t unread_granules(uintptr_t addr)
{
    return (addr & DH_KNOWN_ABOVE) ^ __dh_thread.stamp ^ __dh_thread.known[addr >> 6 & (DH_KNOWN_LINES - 1)];
}

INLINE_PART int was_read4(const void *addr)
{
    return !(unread_granules((uintptr_t)addr) & __dh_thread.must_go4[(uintptr_t)addr >> 2 & 15]);
}

/* Aligned, so that it is within one cache line. */
INLINE_PART int was_read8(const void *addr)
{
    return !(unread_granules((uintptr_t)addr) & __dh_thread.must_go8[(uintptr_t)addr >> 3 & 7]);
}

#define PART(size, bytes)                                                                                              \
    INLINE void __dh_read##size(const void *addr, uint32_t place)                                                      \
    {                                                                                                                  \
        uint32_t half = read_half(dh_shadow_of((uintptr_t)addr));                                                      \
        if (RARE(!has_bytes(half, (uint32_t)__dh_thread.own, (uintptr_t)addr, bytes)))                                 \
            __dh_read##size##_slow(addr, place);                                                                       \
    }                                                                                                                  \
    INLINE void __dh_write##size(void *addr, uint64_t value, uint32_t place)                                           \
    {                                                                                                                  \
        uint64_t cell = load_cell(dh_shadow_of((uintptr_t)addr));                                                      \
        uint32_t own = (uint32_t)__dh_thread.own;                                                                      \
        if (RARE(!has_bytes((uint32_t)(cell >> 32), own, (uintptr_t)addr, bytes)))                                     \
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

/* Where the function only reads, the data is more likely shared, and in the read filter. */
INLINE void __dh_read4_shared(const void *addr, uint32_t place)
{
    if (RARE(!was_read4(addr)) && !is_own4(addr))
        __dh_read4_shared_slow(addr, place);
}

INLINE void __dh_read8_shared(const void *addr, uint32_t place)
{
    if (RARE(!was_read8(addr)) && !is_own8(addr))
        __dh_read8_shared_slow(addr, place);
}

INLINE void __dh_write4(void *addr, uint64_t value, uint32_t place)
{
    if (RARE(load_cell(dh_shadow_of((uintptr_t)addr)) != __dh_thread.own))
        __dh_write4_slow(addr, value, place);
}

INLINE void __dh_write8(void *addr, uint64_t value, uint32_t place)
{
    const uint64_t *cell = dh_shadow_of((uintptr_t)addr);
    uint64_t own = __dh_thread.own;
    if (RARE(load_cell(cell) != own || load_cell(cell + 1) != own))
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
    if (RARE(((load_cell(cell) ^ own) | (load_cell(cell + 1) ^ own) | (load_cell(cell + 2) ^ own) |
              (load_cell(cell + 3) ^ own)) != 0))
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

/* Unaligned: the cell of every granule accessed must be the thread's own for all bytes. The size is constant, so that
 * most of this folds. */
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
    uint64_t own = __dh_thread.own, others = (load_cell(first) ^ own) | (load_cell(last) ^ own);
    if (size > 4)
        others |= load_cell(first + 1) ^ own;
    if (size > 8)
        others |= (load_cell(first + 2) ^ own) | (load_cell(first + 3) ^ own);
    if (RARE(others != 0))
        __dh_write_unaligned_slow(addr, size, place);
}

INLINE void __dh_call(uint32_t place)
{
    __dh_thread.place = place;
}
