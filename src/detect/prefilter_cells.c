#include "detect/prefilter_cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 8 * DH_PREFILTER_PAGE_CELLS };
#define SLAB_BYTES (DH_PREFILTER_SLAB_PAGES * sizeof(struct dh_prefilter_page))

void dh_prefilter_cells_release(struct dh_prefilter_cells *c)
{
    for (size_t i = 0; i < DH_PREFILTER_SLABS; i++)
        free(c->slabs[i]);
    free(c->rows);
    memset(c, 0, sizeof *c);
}

static size_t row_of(const struct dh_prefilter_cells *c, uint64_t number)
{
    size_t i = (number * 0x9e3779b97f4a7c15u) >> 24 & (c->cap - 1);
    while (c->rows[i].page && c->rows[i].number != number)
        i = (i + 1) & (c->cap - 1);
    return i;
}

static void grow(struct dh_prefilter_cells *c)
{
    struct dh_prefilter_row *old = c->rows;
    size_t cap = c->cap;
    c->cap = cap ? 2 * cap : 256;
    c->rows = calloc(c->cap, sizeof *c->rows);
    if (!c->rows)
        abort();
    for (size_t i = 0; i < cap; i++)
        if (old[i].page)
            c->rows[row_of(c, old[i].number)] = old[i];
    free(old);
}

/* Large pages, where the system has them: cells are accessed all over the place. */
static struct dh_prefilter_page *new_page(struct dh_prefilter_cells *c)
{
    struct dh_prefilter_page **slab = &c->slabs[c->n / DH_PREFILTER_SLAB_PAGES];
    if (!*slab) {
        *slab = aligned_alloc(SLAB_BYTES, SLAB_BYTES);
        if (!*slab)
            abort();
        madvise(*slab, SLAB_BYTES, MADV_HUGEPAGE);
    }
    struct dh_prefilter_page *p = &(*slab)[c->n++ % DH_PREFILTER_SLAB_PAGES];
    memset(p, 0, sizeof *p);
    return p;
}

struct dh_prefilter_page *dh_prefilter_cells_page(struct dh_prefilter_cells *c, uint64_t number, bool make)
{
    struct dh_prefilter_page *p = c->cap ? c->rows[row_of(c, number)].page : NULL;
    if (!p && make && c->n < DH_PREFILTER_SLABS * DH_PREFILTER_SLAB_PAGES) {
        if (2 * c->n >= c->cap)
            grow(c);
        p = new_page(c);
        c->rows[row_of(c, number)] = (struct dh_prefilter_row){number, p};
    }
    if (p)
        c->recent[dh_prefilter_cells_recent(number)] = (struct dh_prefilter_row){number, p};
    return p;
}

static void clear_in(struct dh_prefilter_page *p, uint64_t number, uint64_t first, uint64_t end)
{
    uint64_t start = number * PAGE_BYTES;
    size_t from = first > start ? (size_t)(first - start) / 8 : 0;
    size_t to = end - start < PAGE_BYTES ? (size_t)(end - start) / 8 : DH_PREFILTER_PAGE_CELLS;
    if (from < to)
        memset(&p->at[from], 0, (to - from) * sizeof *p->at);
}

/* Whole cells: of others a part lives on. */
void dh_prefilter_cells_clear(struct dh_prefilter_cells *c, uint64_t addr, uint64_t size)
{
    uint64_t first = addr + (8 - addr % 8) % 8, end = (addr + size) & ~(uint64_t)7;
    if (!c->n || first < addr || end <= first)
        return;
    uint64_t from = first / PAGE_BYTES, to = (end - 1) / PAGE_BYTES;
    if (to - from >= c->cap) {
        for (size_t i = 0; i < c->cap; i++)
            if (c->rows[i].page && c->rows[i].number >= from && c->rows[i].number <= to)
                clear_in(c->rows[i].page, c->rows[i].number, first, end);
        return;
    }
    for (uint64_t n = from; n <= to; n++) {
        const struct dh_prefilter_cell *p = dh_prefilter_cells_find(c, n * PAGE_BYTES);
        if (p)
            clear_in((struct dh_prefilter_page *)p, n, first, end);
    }
}
