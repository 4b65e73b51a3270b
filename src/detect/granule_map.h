/* Shadow memory of the detectors in the tool: a number for each granule of 8 bytes of address space. Layer: detect.
 * 0 means that nothing is known; pages of nothing but 0 are freed, so that memory is bounded by what is alive. The
 * numbers' meaning, and references that they stand for, are the caller's. Not thread-safe. */
#ifndef DH_DETECT_GRANULE_MAP_H
#define DH_DETECT_GRANULE_MAP_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DH_GRANULE_BYTES = 8, DH_GRANULE_PAGE_CELLS = 512, DH_GRANULE_PAGE_BYTES = 4096, DH_GRANULE_RECENT = 4096 };

struct dh_granule_page {
    uint64_t number;
    uint32_t used; /* cells that are not 0 */
    uint32_t cells[DH_GRANULE_PAGE_CELLS];
};

/* A direct-mapped cache of pages: programs use few stretches of memory, so that most pages have a row of their own. */
struct dh_granule_recent {
    uint64_t number;
    struct dh_granule_page *page; /* NULL: none */
};

struct dh_granule_map {
    struct dh_u64_map pages;       /* by number */
    struct dh_granule_page *spare; /* NULL, or one of nothing but 0 that is not in the map */
    struct dh_granule_recent recent[DH_GRANULE_RECENT];
};

void dh_granule_map_init(struct dh_granule_map *g);
/* `drop` is called for every number that is left; it may be NULL. */
void dh_granule_map_release(struct dh_granule_map *g, void (*drop)(void *arg, uint32_t value), void *arg);

/* Returns the new number of a granule of which the bytes in `mask` (bit 0 is its first byte) are concerned. */
typedef uint32_t dh_granule_update_fn(void *arg, uint32_t value, uint64_t granule, unsigned mask);
void dh_granule_map_update_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                 void *arg);
void dh_granule_map_visit_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                void *arg);
void dh_granule_map_set(struct dh_granule_map *g, struct dh_granule_page *p, uint32_t *cell, uint32_t value);

/* Arenas of malloc lie 64 MB apart: threads use the same offsets in them. */
static inline size_t dh_granule_map_recent(uint64_t number)
{
    return (number + (number >> 14) * 1237) % DH_GRANULE_RECENT;
}

/* The common case: one granule or part of it, on a page in the cache. False: not done. */
static inline bool dh_granule_map_single(struct dh_granule_map *g, uint64_t addr, uint64_t size, bool only_known,
                                         dh_granule_update_fn *step, void *arg)
{
    uint64_t number = addr / DH_GRANULE_PAGE_BYTES;
    const struct dh_granule_recent *r = &g->recent[dh_granule_map_recent(number)];
    unsigned at = addr % DH_GRANULE_BYTES;
    if (size - 1 >= DH_GRANULE_BYTES - at || r->number != number || !r->page)
        return false;
    struct dh_granule_page *p = r->page;
    uint32_t *cell = &p->cells[addr % DH_GRANULE_PAGE_BYTES / DH_GRANULE_BYTES], old = *cell;
    if (only_known && !old)
        return true;
    uint32_t new = step(arg, old, addr - at, (0xFFu >> (DH_GRANULE_BYTES - size)) << at);
    if (new != old)
        dh_granule_map_set(g, p, cell, new);
    return true;
}

/* Every granule of the range, also those of which nothing is known; stops at the end of the address space. */
static inline void dh_granule_map_update(struct dh_granule_map *g, uint64_t addr, uint64_t size,
                                         dh_granule_update_fn *step, void *arg)
{
    if (!dh_granule_map_single(g, addr, size, false, step, arg))
        dh_granule_map_update_range(g, addr, size, step, arg);
}

/* Only granules of which something is known; the cost is bounded by these, not by the range. */
static inline void dh_granule_map_visit(struct dh_granule_map *g, uint64_t addr, uint64_t size,
                                        dh_granule_update_fn *step, void *arg)
{
    if (!dh_granule_map_single(g, addr, size, true, step, arg))
        dh_granule_map_visit_range(g, addr, size, step, arg);
}

/* Prefetches the number at an address. Always inline: gcc drops calls of functions that only prefetch. */
__attribute__((always_inline)) static inline const uint32_t *dh_granule_map_prefetch(const struct dh_granule_map *g,
                                                                                     uint64_t addr)
{
    uint64_t number = addr / DH_GRANULE_PAGE_BYTES;
    const struct dh_granule_recent *r = &g->recent[dh_granule_map_recent(number)];
    if (r->number != number || !r->page)
        return NULL;
    const uint32_t *cell = &r->page->cells[addr % DH_GRANULE_PAGE_BYTES / DH_GRANULE_BYTES];
    __builtin_prefetch(cell);
    return cell;
}

#endif
