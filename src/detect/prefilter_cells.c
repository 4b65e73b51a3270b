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
    dh_u64_map_release(&c->pages);
    memset(c, 0, sizeof *c);
}

/* In huge pages, where the system has them: cells are accessed without locality. */
static struct dh_prefilter_page *new_page(struct dh_prefilter_cells *c)
{
    struct dh_prefilter_page **slab = &c->slabs[c->pages.n / DH_PREFILTER_SLAB_PAGES];
    if (!*slab) {
        *slab = aligned_alloc(SLAB_BYTES, SLAB_BYTES);
        if (!*slab)
            abort();
        madvise(*slab, SLAB_BYTES, MADV_HUGEPAGE);
    }
    struct dh_prefilter_page *p = &(*slab)[c->pages.n % DH_PREFILTER_SLAB_PAGES];
    memset(p, 0, sizeof *p);
    return p;
}

struct dh_prefilter_page *dh_prefilter_cells_page(struct dh_prefilter_cells *c, uint64_t number, bool make)
{
    uint32_t i = dh_u64_map_seek(&c->pages, number);
    struct dh_prefilter_page *p = i == DH_ABSENT ? NULL : c->pages.at[i].pointer;
    if (!p && make && c->pages.n < DH_PREFILTER_SLABS * DH_PREFILTER_SLAB_PAGES) {
        p = new_page(c);
        dh_u64_map_append(&c->pages, number)->pointer = p;
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

/* Whole cells only: of others a part lives on. */
void dh_prefilter_cells_clear(struct dh_prefilter_cells *c, uint64_t addr, uint64_t size)
{
    uint64_t first = addr + (8 - addr % 8) % 8, end = (addr + size) & ~(uint64_t)7;
    if (!c->pages.n || first < addr || end <= first)
        return;
    uint64_t from = first / PAGE_BYTES, to = (end - 1) / PAGE_BYTES;
    if (to - from >= c->pages.n) {
        for (uint32_t i = 0; i < c->pages.n; i++)
            if (c->pages.at[i].key >= from && c->pages.at[i].key <= to)
                clear_in(c->pages.at[i].pointer, c->pages.at[i].key, first, end);
        return;
    }
    for (uint64_t n = from; n <= to; n++) {
        const struct dh_prefilter_cell *p = dh_prefilter_cells_find(c, n * PAGE_BYTES);
        if (p)
            clear_in((struct dh_prefilter_page *)p, n, first, end);
    }
}
