/* Where the cells of an address lie. Layer: runtime; also compiled into the inline checks. A direct map: every four
 * bytes of the program have one cell of eight. Addresses are taken modulo the window, which holds the executable, the
 * heap, libraries and stacks of any usual layout apart; whether two of them meet is checked at the start (layout.h). */
#ifndef DH_RUNTIME_RACE_SHADOW_H
#define DH_RUNTIME_RACE_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_WINDOW_BITS 44
#define DH_WINDOW_MASK (((uintptr_t)1 << DH_WINDOW_BITS) - 1)
/* Above where libraries lie when the stack is unlimited (a sixth or a third of the address space) and what
 * AddressSanitizer takes for its shadow, below its heap and position-independent executables. */
#define DH_SHADOW_BASE ((uintptr_t)0x300000000000)
#define DH_SHADOW_SIZE ((size_t)2 << DH_WINDOW_BITS)
/* One word for every 16 bytes: the record of the heap block that starts there. */
#define DH_BLOCKS_SIZE ((size_t)1 << (DH_WINDOW_BITS - 2))
#define DH_BLOCKS_BASE (DH_SHADOW_BASE - DH_BLOCKS_SIZE)

static inline uint64_t *dh_shadow_of(uintptr_t addr)
{
    return (uint64_t *)(DH_SHADOW_BASE + ((addr & DH_WINDOW_MASK & ~(uintptr_t)3) << 1));
}

/* The cells of a range will be needed soon, and then what they are of; each would be waited for alone, since locked
 * instructions do not overlap. */
static inline void dh_shadow_prefetch(uintptr_t addr, size_t size)
{
    enum { LINE = 32, MOST = 256 }; /* bytes of the program's that a cache line of cells tells */
    uintptr_t end = addr + (size < MOST ? size : MOST);
    for (uintptr_t at = addr & ~(uintptr_t)(LINE - 1); at < end; at += LINE)
        __builtin_prefetch(dh_shadow_of(at), 1);
    __builtin_prefetch((const void *)addr);
    __builtin_prefetch((const void *)(end - 1));
}

/* Cells are read before they are written: a page of them that is not there yet would be made twice, first as one of
 * zeroes, and the second time all processors be told. For ranges that will be written. */
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
    DH_SHADOW_TAKEN    /* something of the program's is there */
};
/* Also where memory is not overcommitted: it counts as it is written. */
enum dh_shadow_result dh_shadow_map(void);
/* In a forked child: its own, which may be empty; false when it cannot have one. */
bool dh_shadow_forked(void);
/* Gives whole pages of shadow back: all cells of the program's range read as 0. Answers what it could not give back,
 * the edges, through the two ranges. */
void dh_shadow_discard(uintptr_t at, size_t size);
/* All of it. */
void dh_shadow_discard_all(void);

#endif
