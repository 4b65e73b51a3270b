/* Where the cells of an address lie. Layer: runtime; also compiled into the inline checks. A direct map: every four
 * bytes of the program have one cell of eight. Addresses are taken modulo the window, which holds the executable, the
 * heap, libraries and stacks of any usual layout apart; whether two of them meet is checked at the start. */
#ifndef DH_RUNTIME_SHADOW_H
#define DH_RUNTIME_SHADOW_H

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

static inline uint32_t *dh_block_word_of(uintptr_t addr)
{
    return (uint32_t *)(DH_BLOCKS_BASE + ((addr & DH_WINDOW_MASK & ~(uintptr_t)15) >> 2));
}

/* False, and why, when the process cannot have it (a limit on its address space). */
bool dh_shadow_map(const char **why);
/* Where memory is not overcommitted, what will be written must be asked for first; free otherwise. `at` and `size` are
 * the program's. False: no memory; the access is then not recorded. */
extern bool dh_shadow_is_lazy;
bool dh_shadow_commit(uintptr_t at, size_t size);
static inline bool dh_shadow_ready(uintptr_t at, size_t size)
{
    return !dh_shadow_is_lazy || dh_shadow_commit(at, size);
}
/* Gives whole pages of shadow back: all cells of the program's range read as 0. Answers what it could not give back,
 * the edges, through the two ranges. */
void dh_shadow_drop(uintptr_t at, size_t size);
/* All of it. */
void dh_shadow_drop_all(void);

#endif
