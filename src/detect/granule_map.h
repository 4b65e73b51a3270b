/* What detectors know of memory: a number for each 8 bytes of address space. Layer: detect. 0 means nothing is known,
 * and pages of nothing but 0 are given back, so that what is kept is bounded by what is alive. The numbers' meaning,
 * and what they hold on to, is the caller's. Not thread-safe. */
#ifndef DH_DETECT_GRANULE_MAP_H
#define DH_DETECT_GRANULE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DH_GRANULE_BYTES = 8, DH_GRANULE_PAGE_CELLS = 512, DH_GRANULE_PAGE_BYTES = 4096, DH_GRANULE_RECENT = 4096 };

struct dh_granule_page {
    uint64_t number;
    uint32_t used; /* cells that are not 0 */
    uint32_t cells[DH_GRANULE_PAGE_CELLS];
};

/* Which page was found where: programs have their memory in few pieces, so that most pages have a row for themselves.
 */
struct dh_granule_recent {
    uint64_t number;
    struct dh_granule_page *page; /* NULL: none */
};

struct dh_granule_map {
    struct dh_granule_page **slots; /* open addressing */
    size_t n, cap;
    struct dh_granule_page *spare; /* NULL, or one of nothing but 0 that is not in the table */
    struct dh_granule_recent recent[DH_GRANULE_RECENT];
};

void dh_granule_map_init(struct dh_granule_map *g);
/* `drop` gets every number that is left; it may be NULL. */
void dh_granule_map_release(struct dh_granule_map *g, void (*drop)(void *arg, uint32_t value), void *arg);

/* What becomes of a granule of which the bytes in `mask` (bit 0 is its first byte) are meant. */
typedef uint32_t dh_granule_update_fn(void *arg, uint32_t value, uint64_t granule, unsigned mask);
void dh_granule_map_update_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                 void *arg);
void dh_granule_map_visit_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                void *arg);
void dh_granule_map_set(struct dh_granule_map *g, struct dh_granule_page *p, uint32_t *cell, uint32_t value);

/* Heaps of several threads lie at the same place in pieces of 64 MB. */
static inline size_t dh_granule_map_recent(uint64_t number)
{
    return (number + (number >> 14) * 1237) % DH_GRANULE_RECENT;
}

/* Most are a granule or part of one, on a page that was found before. False: not this one. */
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

/* Every granule of the range, also where nothing is known yet; ends at the end of the address space. */
static inline void dh_granule_map_update(struct dh_granule_map *g, uint64_t addr, uint64_t size,
                                         dh_granule_update_fn *step, void *arg)
{
    if (!dh_granule_map_single(g, addr, size, false, step, arg))
        dh_granule_map_update_range(g, addr, size, step, arg);
}

/* Only those of which something is known; cost is bounded by what is known, not by the range. */
static inline void dh_granule_map_visit(struct dh_granule_map *g, uint64_t addr, uint64_t size,
                                        dh_granule_update_fn *step, void *arg)
{
    if (!dh_granule_map_single(g, addr, size, true, step, arg))
        dh_granule_map_visit_range(g, addr, size, step, arg);
}

/* The number at an address; soon it will be asked for. Always inline: gcc leaves out calls of what does nothing but
 * fetch. */
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
