/* Shadow memory: the cells of an address. Layer: runtime; also compiled into the inline checks. A direct map: every
 * granule of four bytes has a cell of eight. Addresses are taken modulo a window, which separates executable, heap,
 * libraries and stacks in any usual layout; whether two share cells is checked at the start (layout.h). */
#ifndef DH_RUNTIME_RACE_SHADOW_H
#define DH_RUNTIME_RACE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_WINDOW_BITS 44
#define DH_WINDOW_MASK (((uintptr_t)1 << DH_WINDOW_BITS) - 1)
/* Above where libraries lie when the stack is unlimited (a sixth or a third of the address space) and what
 * AddressSanitizer uses as its shadow, below its heap and position-independent executables. */
#define DH_SHADOW_BASE ((uintptr_t)0x300000000000)
#define DH_SHADOW_SIZE ((size_t)2 << DH_WINDOW_BITS)
/* The block map, one word for every 16 bytes: the record of the heap block that starts there. */
#define DH_BLOCKS_SIZE ((size_t)1 << (DH_WINDOW_BITS - 2))
#define DH_BLOCKS_BASE (DH_SHADOW_BASE - DH_BLOCKS_SIZE)

static inline uint64_t *dh_shadow_of(uintptr_t addr)
{
    return (uint64_t *)(DH_SHADOW_BASE + ((addr & DH_WINDOW_MASK & ~(uintptr_t)3) << 1));
}

/* Prefetches the cells of a range and the range itself: misses of locked instructions would not overlap. */
static inline void dh_shadow_prefetch(uintptr_t addr, size_t size)
{
    enum { LINE = 32, MOST = 256 }; /* LINE: bytes whose cells fill a cache line */
    uintptr_t end = addr + (size < MOST ? size : MOST);
    for (uintptr_t at = addr & ~(uintptr_t)(LINE - 1); at < end; at += LINE)
        __builtin_prefetch(dh_shadow_of(at), 1);
    __builtin_prefetch((const void *)addr);
    __builtin_prefetch((const void *)(end - 1));
}

/* Faults in the cells of a range that will be written. Cells are read first: that would map the zero page, and the
 * write would fault again and flush TLBs of all processors. */
enum { DH_SHADOW_PAGE = 2048 }; /* of the program's memory */
static inline void dh_shadow_touch(uintptr_t addr, size_t size)
{
    for (uintptr_t at = addr; at < addr + size; at = (at & ~(uintptr_t)(DH_SHADOW_PAGE - 1)) + DH_SHADOW_PAGE)
        __atomic_fetch_or(dh_shadow_of(at), 0, __ATOMIC_RELAXED);
}

static inline uint32_t *dh_heap_block_word(uintptr_t addr)
{
    return (uint32_t *)(DH_BLOCKS_BASE + ((addr & DH_WINDOW_MASK & ~(uintptr_t)15) >> 2));
}

enum dh_shadow_result {
    DH_SHADOW_MAPPED,
    DH_SHADOW_LIMITED, /* the process may not have so much address space */
    DH_SHADOW_TAKEN    /* the program has mapped something there */
};
/* Works without overcommit, too: pages count as they are written. */
enum dh_shadow_result dh_shadow_map(void);
/* In a forked child: a shadow of its own, perhaps empty; false: impossible. */
bool dh_shadow_forked(void);
/* Discards whole pages of cells: those of the program's range read as 0, except at its edges. */
void dh_shadow_discard(uintptr_t at, size_t size);
/* All of it. */
void dh_shadow_discard_all(void);

#endif
