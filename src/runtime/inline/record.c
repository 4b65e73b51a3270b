/* Included by all.c. What the recorder is told, as it is inlined into executables. Layer: runtime. What was told in
 * this segment is not told again; what goes on as the place's last accesses did only lengthens their run; everything
 * else goes out of line, where every register is left as it was. */
#include "event/stream.h"

/* what = bytes | write << 31 */
DH_PRESERVE_ALL void __dh_note_slow(const void *addr, uint32_t what, uint32_t place);

INLINE_PART uint64_t not_told(uintptr_t addr, unsigned write)
{
    uint64_t word = __dh_thread.told[write * DH_TOLD_LINES + (addr >> 6 & (DH_TOLD_LINES - 1))];
    return (addr & DH_KNOWN_ABOVE) ^ __dh_thread.told_stamp ^ word;
}

/* Programs lie about alignment: what is left of the address then counts as not told. */
INLINE_PART int is_told4(const void *addr, unsigned write)
{
    uintptr_t at = (uintptr_t)addr;
    return !((not_told(at, write) & __dh_thread.must_go4[at >> 2 & 15]) | (at & 3));
}

INLINE_PART int is_told8(const void *addr, unsigned write)
{
    uintptr_t at = (uintptr_t)addr;
    return !((not_told(at, write) & __dh_thread.must_go8[at >> 3 & 7]) | (at & 7));
}

/* As the last one, one step on. The size is the place's, as a rule; where it is not, a run has the first one's. */
INLINE_PART int goes_on(const void *addr, unsigned write, uint32_t place)
{
    struct dh_stream_run *r = &__dh_thread.runs[write * DH_STREAM_RUNS + place % DH_STREAM_RUNS];
    uint64_t next = r->next;
    if (next != DH_STREAM_RUN_KEY((uintptr_t)addr, place))
        return 0;
    r->next = next + (uint64_t)r->stride;
    return 1;
}

INLINE void __dh_note_read4(const void *addr, uint32_t place)
{
    if (!is_told4(addr, 0) && !goes_on(addr, 0, place))
        __dh_note_slow(addr, 4, place);
}

INLINE void __dh_note_read8(const void *addr, uint32_t place)
{
    if (!is_told8(addr, 0) && !goes_on(addr, 0, place))
        __dh_note_slow(addr, 8, place);
}

INLINE void __dh_note_write4(void *addr, uint32_t place)
{
    if (!is_told4(addr, 1) && !goes_on(addr, 1, place))
        __dh_note_slow(addr, 4 | 1u << 31, place);
}

INLINE void __dh_note_write8(void *addr, uint32_t place)
{
    if (!is_told8(addr, 1) && !goes_on(addr, 1, place))
        __dh_note_slow(addr, 8 | 1u << 31, place);
}

/* Some whole granules, in one line or two. */
INLINE_PART int is_told_many(uintptr_t addr, size_t size, unsigned write)
{
    uint64_t bits = (((uint64_t)1 << size / 4) - 1) << (addr >> 2 & 15), left = not_told(addr, write);
    if (left >> 16 || left & bits & 0xFFFF)
        return 0;
    left = bits >> 16 ? not_told((addr | 63) + 1, write) : 0;
    return !(left >> 16) && !(left & bits >> 16);
}

INLINE_PART int is_told_small(uintptr_t addr, size_t size, unsigned write)
{
    const struct dh_told_small *small = &__dh_thread.small[dh_told_small_index(addr)];
    return small->addr == addr && (small->what ^ (__dh_thread.told_stamp | size << 1 | 1)) <= !write;
}

INLINE_PART int is_told_any(uintptr_t addr, size_t size, unsigned write)
{
    if (size % 4 == 0 && size <= 64)
        return addr % 4 == 0 && is_told_many(addr, size, write);
    return size < 4 && is_told_small(addr, size, write);
}

/* Any size. It is constant as a rule, so that little of this is left. */
INLINE_PART void note_any(const void *addr, size_t size, unsigned write, uint32_t place)
{
    if (is_told_any((uintptr_t)addr, size, write))
        return;
    const struct dh_stream_run *r = &__dh_thread.runs[write * DH_STREAM_RUNS + place % DH_STREAM_RUNS];
    if (r->size == size && goes_on(addr, write, place))
        return;
    /* In pieces that the number has room for. */
    for (size_t most = 1u << 30; size > most; size -= most, addr = (const char *)addr + most)
        __dh_note_slow(addr, (uint32_t)most | write << 31, place);
    __dh_note_slow(addr, (uint32_t)size | write << 31, place);
}

INLINE void __dh_note_read(const void *addr, size_t size, uint32_t place)
{
    note_any(addr, size, 0, place);
}

INLINE void __dh_note_write(void *addr, size_t size, uint32_t place)
{
    note_any(addr, size, 1, place);
}
