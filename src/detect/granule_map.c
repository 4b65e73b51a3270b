#include "detect/granule_map.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void dh_granule_map_init(struct dh_granule_map *g)
{
    memset(g, 0, sizeof *g);
}

void dh_granule_map_release(struct dh_granule_map *g, void (*drop)(void *arg, uint32_t value), void *arg)
{
    for (uint32_t i = 0; i < g->pages.n; i++) {
        struct dh_granule_page *p = g->pages.at[i].pointer;
        for (size_t j = 0; drop && j < DH_GRANULE_PAGE_CELLS; j++)
            if (p->cells[j])
                drop(arg, p->cells[j]);
        free(p);
    }
    dh_u64_map_release(&g->pages);
    free(g->spare);
    memset(g, 0, sizeof *g);
}

/* ---- pages by number ---- */

static struct dh_granule_page *find_page(struct dh_granule_map *g, uint64_t number)
{
    struct dh_granule_recent *recent = &g->recent[dh_granule_map_recent(number)];
    if (recent->number == number && recent->page)
        return recent->page;
    uint32_t i = dh_u64_map_seek(&g->pages, number);
    if (i == DH_ABSENT)
        return NULL;
    *recent = (struct dh_granule_recent){number, g->pages.at[i].pointer};
    return recent->page;
}

/* Not in the map yet: often all of it stays 0. */
static struct dh_granule_page *new_page(struct dh_granule_map *g, uint64_t number)
{
    struct dh_granule_page *p = g->spare ? g->spare : DH_NEW(struct dh_granule_page);
    g->spare = NULL;
    p->number = number;
    return p;
}

static void add_page(struct dh_granule_map *g, struct dh_granule_page *p)
{
    if (p->used)
        dh_u64_map_append(&g->pages, p->number)->pointer = p;
    else
        g->spare = p;
}

static void remove_page(struct dh_granule_map *g, struct dh_granule_page *p)
{
    struct dh_granule_recent *recent = &g->recent[dh_granule_map_recent(p->number)];
    if (recent->page == p)
        recent->page = NULL;
    dh_u64_map_remove(&g->pages, p->number);
    free(p);
}

void dh_granule_map_set(struct dh_granule_map *g, struct dh_granule_page *p, uint32_t *cell, uint32_t value)
{
    p->used += (value != 0) - (*cell != 0);
    *cell = value;
    if (!p->used)
        remove_page(g, p);
}

/* ---- ranges ---- */

static unsigned mask_of(uint64_t granule, uint64_t first, uint64_t last)
{
    unsigned mask = 0xFF;
    if (first > granule)
        mask &= 0xFFu << (first - granule);
    if (last < granule + DH_GRANULE_BYTES - 1)
        mask &= 0xFFu >> (granule + DH_GRANULE_BYTES - 1 - last);
    return mask & 0xFF;
}

/* The bytes first..last, all of this page. True: it may be nothing but 0 now. */
static bool step_page(struct dh_granule_page *p, uint64_t first, uint64_t last, bool known, dh_granule_update_fn *step,
                      void *arg)
{
    uint64_t granule = first & ~(uint64_t)(DH_GRANULE_BYTES - 1);
    size_t i = first % DH_GRANULE_PAGE_BYTES / DH_GRANULE_BYTES, end = last % DH_GRANULE_PAGE_BYTES / DH_GRANULE_BYTES;
    bool zeroes = false;
    for (; i <= end; i++, granule += DH_GRANULE_BYTES) {
        uint32_t old = p->cells[i];
        if (known && !old)
            continue;
        uint32_t new = step(arg, old, granule, mask_of(granule, first, last));
        zeroes = zeroes || !new;
        if (new == old) /* the page's head is far from its cells */
            continue;
        p->cells[i] = new;
        p->used += (new != 0) - (old != 0);
    }
    return zeroes;
}

static uint64_t last_of(uint64_t addr, uint64_t size)
{
    return addr + (size - 1) < addr ? UINT64_MAX : addr + (size - 1);
}

void dh_granule_map_update_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                 void *arg)
{
    if (!size)
        return;
    uint64_t last = last_of(addr, size), last_page = last / DH_GRANULE_PAGE_BYTES;
    for (uint64_t number = addr / DH_GRANULE_PAGE_BYTES; number <= last_page; number++) {
        struct dh_granule_page *found = find_page(g, number), *p = found ? found : new_page(g, number);
        uint64_t start = number * DH_GRANULE_PAGE_BYTES, end = start + (DH_GRANULE_PAGE_BYTES - 1);
        bool zeroes = step_page(p, addr > start ? addr : start, last < end ? last : end, false, step, arg);
        if (!found)
            add_page(g, p);
        else if (zeroes && !p->used)
            remove_page(g, p);
    }
}

static void visit_page(struct dh_granule_map *g, struct dh_granule_page *p, uint64_t addr, uint64_t last,
                       dh_granule_update_fn *step, void *arg)
{
    uint64_t start = p->number * DH_GRANULE_PAGE_BYTES, end = start + (DH_GRANULE_PAGE_BYTES - 1);
    if (step_page(p, addr > start ? addr : start, last < end ? last : end, true, step, arg) && !p->used)
        remove_page(g, p);
}

/* A range of more pages than there are is not walked page by page. */
static void visit_all(struct dh_granule_map *g, uint64_t addr, uint64_t last, dh_granule_update_fn *step, void *arg)
{
    uint64_t first_page = addr / DH_GRANULE_PAGE_BYTES, last_page = last / DH_GRANULE_PAGE_BYTES;
    struct dh_granule_page **pages = dh_xcalloc(g->pages.n, sizeof(struct dh_granule_page *));
    size_t n = 0;
    for (uint32_t i = 0; i < g->pages.n; i++)
        if (g->pages.at[i].key >= first_page && g->pages.at[i].key <= last_page)
            pages[n++] = g->pages.at[i].pointer;
    for (size_t i = 0; i < n; i++)
        visit_page(g, pages[i], addr, last, step, arg);
    free(pages);
}

void dh_granule_map_visit_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                void *arg)
{
    if (!size || !g->pages.n)
        return;
    uint64_t last = last_of(addr, size), first_page = addr / DH_GRANULE_PAGE_BYTES,
             last_page = last / DH_GRANULE_PAGE_BYTES;
    if (last_page - first_page >= g->pages.n) {
        visit_all(g, addr, last, step, arg);
        return;
    }
    for (uint64_t number = first_page; number <= last_page; number++) {
        struct dh_granule_page *p = find_page(g, number);
        if (p)
            visit_page(g, p, addr, last, step, arg);
    }
}
