/* Shadow memory of the prefilter: a cell for each granule of eight bytes, in large pages, without references to count
 * as granule_map.h has. Layer: detect. Pages are made when first needed, up to a bound. Not thread-safe. */
#ifndef DH_DETECT_PREFILTER_CELLS_H
#define DH_DETECT_PREFILTER_CELLS_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_PREFILTER_THREAD 0x3FFFFFFFu
#define DH_PREFILTER_SEVERAL UINT32_MAX

struct dh_prefilter_cell {
    uint32_t object;           /* 0: none is known */
    uint32_t thread;           /* index + 1; 0: none; or DH_PREFILTER_SEVERAL */
    uint32_t time, write_time; /* of its latest access, and write; 0: it did not write */
    uint32_t locks;
    uint32_t older : 30, wrote : 1; /* index of thread + 1; 0: none */
    uint32_t settled : 1;           /* the object is owned no more, or this is not part of it */
    uint32_t older_time;
    uint32_t unused; /* so that a cell lies in one cache line */
};

enum {
    DH_PREFILTER_PAGE_CELLS = 2048,
    DH_PREFILTER_RECENT = 4096,
    DH_PREFILTER_SLAB_PAGES = 32,
    DH_PREFILTER_SLABS = 256
};

struct dh_prefilter_page {
    struct dh_prefilter_cell at[DH_PREFILTER_PAGE_CELLS];
};

struct dh_prefilter_row {
    uint64_t number;
    struct dh_prefilter_page *page; /* NULL: free */
};

struct dh_prefilter_cells {
    struct dh_u64_map pages;                             /* by number */
    struct dh_prefilter_page *slabs[DH_PREFILTER_SLABS]; /* of pages */
    struct dh_prefilter_row recent[DH_PREFILTER_RECENT]; /* direct-mapped cache */
};

void dh_prefilter_cells_release(struct dh_prefilter_cells *c);
struct dh_prefilter_page *dh_prefilter_cells_page(struct dh_prefilter_cells *c, uint64_t number, bool make);
void dh_prefilter_cells_clear(struct dh_prefilter_cells *c, uint64_t addr, uint64_t size);

/* Arenas of malloc lie 64 MB apart: threads use the same offsets in them. */
static inline size_t dh_prefilter_cells_recent(uint64_t number)
{
    return (number + (number >> 12) * 1237) % DH_PREFILTER_RECENT;
}

static inline struct dh_prefilter_cell *dh_prefilter_cells_at(struct dh_prefilter_cells *c, uint64_t addr, bool make)
{
    uint64_t number = addr / (8 * DH_PREFILTER_PAGE_CELLS);
    const struct dh_prefilter_row *recent = &c->recent[dh_prefilter_cells_recent(number)];
    struct dh_prefilter_page *p = recent->number == number ? recent->page : NULL;
    if (!p)
        p = dh_prefilter_cells_page(c, number, make);
    return p ? &p->at[addr / 8 % DH_PREFILTER_PAGE_CELLS] : NULL;
}

/* NULL: there is no page. */
static inline struct dh_prefilter_cell *dh_prefilter_cells_find(struct dh_prefilter_cells *c, uint64_t addr)
{
    return dh_prefilter_cells_at(c, addr, false);
}

/* Always inline: gcc drops calls of functions that only prefetch. */
__attribute__((always_inline)) static inline void dh_prefilter_cells_prefetch(const struct dh_prefilter_cells *c,
                                                                              uint64_t addr)
{
    const struct dh_prefilter_page *p = c->recent[dh_prefilter_cells_recent(addr / (8 * DH_PREFILTER_PAGE_CELLS))].page;
    if (p)
        __builtin_prefetch(&p->at[addr / 8 % DH_PREFILTER_PAGE_CELLS], 1);
}

/* NULL: there are too many pages. */
static inline struct dh_prefilter_cell *dh_prefilter_cells_get(struct dh_prefilter_cells *c, uint64_t addr)
{
    return dh_prefilter_cells_at(c, addr, true);
}

#endif
