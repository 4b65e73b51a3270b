/* Included by all.c. The recorder's hooks, inlined into executables. Layer: runtime. An access already recorded in this
 * segment is skipped; one that continues the place's last accesses by their stride lengthens their run; all others call
 * the slow path, which preserves all registers. */
#include "event/stream.h"

/* what = bytes | write << 31 */
DH_PRESERVE_ALL void __dh_note_slow(const void *addr, uint32_t what, uint32_t place);

INLINE_PART uint64_t unrecorded_granules(uintptr_t addr, unsigned write)
{
    uint64_t word = __dh_thread.recorded[write * DH_RECORDED_LINES + (addr >> 6 & (DH_RECORDED_LINES - 1))];
    return (addr & DH_KNOWN_ABOVE) ^ __dh_thread.recorded_stamp ^ word;
}

/* Declared alignment may be wrong: low bits of the address count as unrecorded. */
INLINE_PART int is_recorded4(const void *addr, unsigned write)
{
    uintptr_t at = (uintptr_t)addr;
    return !((unrecorded_granules(at, write) & __dh_thread.must_go4[at >> 2 & 15]) | (at & 3));
}

INLINE_PART int is_recorded8(const void *addr, unsigned write)
{
    uintptr_t at = (uintptr_t)addr;
    return !((unrecorded_granules(at, write) & __dh_thread.must_go8[at >> 3 & 7]) | (at & 7));
}

/* The last address plus the stride. A place mostly has one size; otherwise the run has the first access's. */
INLINE_PART int continues_run(const void *addr, unsigned write, uint32_t place)
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
    if (!is_recorded4(addr, 0) && !continues_run(addr, 0, place))
        __dh_note_slow(addr, 4, place);
}

INLINE void __dh_note_read8(const void *addr, uint32_t place)
{
    if (!is_recorded8(addr, 0) && !continues_run(addr, 0, place))
        __dh_note_slow(addr, 8, place);
}

INLINE void __dh_note_write4(void *addr, uint32_t place)
{
    if (!is_recorded4(addr, 1) && !continues_run(addr, 1, place))
        __dh_note_slow(addr, 4 | 1u << 31, place);
}

INLINE void __dh_note_write8(void *addr, uint32_t place)
{
    if (!is_recorded8(addr, 1) && !continues_run(addr, 1, place))
        __dh_note_slow(addr, 8 | 1u << 31, place);
}

/* Some whole granules, in one line or two. */
INLINE_PART int is_recorded_many(uintptr_t addr, size_t size, unsigned write)
{
    uint64_t bits = (((uint64_t)1 << size / 4) - 1) << (addr >> 2 & 15), left = unrecorded_granules(addr, write);
    if (left >> 16 || left & bits & 0xFFFF)
        return 0;
    left = bits >> 16 ? unrecorded_granules((addr | 63) + 1, write) : 0;
    return !(left >> 16) && !(left & bits >> 16);
}

INLINE_PART int is_recorded_small(uintptr_t addr, size_t size, unsigned write)
{
    const struct dh_recorded_small *small = &__dh_thread.small[dh_recorded_small_index(addr)];
    return small->addr == addr && (small->what ^ (__dh_thread.recorded_stamp | size << 1 | 1)) <= !write;
}

INLINE_PART int is_recorded_any(uintptr_t addr, size_t size, unsigned write)
{
    if (size % 4 == 0 && size <= 64)
        return addr % 4 == 0 && is_recorded_many(addr, size, write);
    return size < 4 && is_recorded_small(addr, size, write);
}

/* Any size; mostly constant, so that most of this folds. */
INLINE_PART void record_any(const void *addr, size_t size, unsigned write, uint32_t place)
{
    if (is_recorded_any((uintptr_t)addr, size, write))
        return;
    const struct dh_stream_run *r = &__dh_thread.runs[write * DH_STREAM_RUNS + place % DH_STREAM_RUNS];
    if (r->size == size && continues_run(addr, write, place))
        return;
    /* In pieces that fit the number. */
    for (size_t most = 1u << 30; size > most; size -= most, addr = (const char *)addr + most)
        __dh_note_slow(addr, (uint32_t)most | write << 31, place);
    __dh_note_slow(addr, (uint32_t)size | write << 31, place);
}

INLINE void __dh_note_read(const void *addr, size_t size, uint32_t place)
{
    record_any(addr, size, 0, place);
}

INLINE void __dh_note_write(void *addr, size_t size, uint32_t place)
{
    record_any(addr, size, 1, place);
}
