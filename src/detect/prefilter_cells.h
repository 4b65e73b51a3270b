/* A cell for every eight bytes of address space. Layer: detect. Cells of nothing but 0 need no memory, and there is a
 * bound. Not thread-safe. */
#ifndef DH_DETECT_PREFILTER_CELLS_H
#define DH_DETECT_PREFILTER_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DH_PREFILTER_THREAD 0x3FFFFFFFu
#define DH_PREFILTER_SEVERAL UINT32_MAX

struct dh_prefilter_cell {
    uint32_t object;           /* 0: none that is known */
    uint32_t thread;           /* and 1; 0: nobody, or several */
    uint32_t time, write_time; /* the latest; 0: it did not write */
    uint32_t locks;
    uint32_t older : 30, wrote : 1; /* thread and 1; 0: none */
    uint32_t settled : 1;           /* the object is nobody's own any more, or this is none of it */
    uint32_t older_time;
    uint32_t unused; /* a cell lies in one line of the cache */
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
    struct dh_prefilter_page *page; /* NULL: free row */
};

struct dh_prefilter_cells {
    struct dh_prefilter_row *rows; /* open addressing */
    size_t n, cap;
    struct dh_prefilter_page *slabs[DH_PREFILTER_SLABS]; /* where pages are taken from */
    struct dh_prefilter_row recent[DH_PREFILTER_RECENT]; /* by number, wrapped */
};

void dh_prefilter_cells_release(struct dh_prefilter_cells *c);
struct dh_prefilter_page *dh_prefilter_cells_page(struct dh_prefilter_cells *c, uint64_t number, bool make);
/* Page by page; only what is there. */
void dh_prefilter_cells_clear(struct dh_prefilter_cells *c, uint64_t addr, uint64_t size);

/* Heaps of several threads lie at the same place in pieces of 64 MB. */
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

/* NULL: nothing is known. */
static inline struct dh_prefilter_cell *dh_prefilter_cells_find(struct dh_prefilter_cells *c, uint64_t addr)
{
    return dh_prefilter_cells_at(c, addr, false);
}

/* It will be asked for. Always inline: gcc leaves out calls of what does nothing but fetch. */
__attribute__((always_inline)) static inline void dh_prefilter_cells_prefetch(const struct dh_prefilter_cells *c,
                                                                              uint64_t addr)
{
    const struct dh_prefilter_page *p = c->recent[dh_prefilter_cells_recent(addr / (8 * DH_PREFILTER_PAGE_CELLS))].page;
    if (p)
        __builtin_prefetch(&p->at[addr / 8 % DH_PREFILTER_PAGE_CELLS], 1);
}

/* NULL: there are too many. */
static inline struct dh_prefilter_cell *dh_prefilter_cells_get(struct dh_prefilter_cells *c, uint64_t addr)
{
    return dh_prefilter_cells_at(c, addr, true);
}

#endif
