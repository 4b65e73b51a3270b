#include "detect/granule_map.h"

#include <stdlib.h>
#include <string.h>

void dh_granule_map_init(struct dh_granule_map *g)
{
    memset(g, 0, sizeof *g);
}

void dh_granule_map_release(struct dh_granule_map *g, void (*drop)(void *arg, uint32_t value), void *arg)
{
    for (size_t i = 0; i < g->cap; i++) {
        for (size_t j = 0; g->slots[i] && drop && j < DH_GRANULE_PAGE_CELLS; j++)
            if (g->slots[i]->cells[j])
                drop(arg, g->slots[i]->cells[j]);
        free(g->slots[i]);
    }
    free(g->slots);
    free(g->spare);
    memset(g, 0, sizeof *g);
}

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p)
        abort();
    return p;
}

/* ---- pages by number ---- */

static size_t home_of(const struct dh_granule_map *g, uint64_t number)
{
    return (number * 0x9e3779b97f4a7c15u) >> 24 & (g->cap - 1);
}

static size_t slot_of(const struct dh_granule_map *g, uint64_t number)
{
    size_t i = home_of(g, number);
    while (g->slots[i] && g->slots[i]->number != number)
        i = (i + 1) & (g->cap - 1);
    return i;
}

static void grow(struct dh_granule_map *g)
{
    struct dh_granule_page **old = g->slots;
    size_t cap = g->cap;
    g->cap = cap ? 2 * cap : 64;
    g->slots = zeroed(g->cap, sizeof(struct dh_granule_page *));
    for (size_t i = 0; i < cap; i++)
        if (old[i])
            g->slots[slot_of(g, old[i]->number)] = old[i];
    free(old);
}

static struct dh_granule_page *find_page(struct dh_granule_map *g, uint64_t number)
{
    struct dh_granule_recent *recent = &g->recent[dh_granule_map_recent(number)];
    if (recent->number == number && recent->page)
        return recent->page;
    struct dh_granule_page *p = g->cap ? g->slots[slot_of(g, number)] : NULL;
    if (p)
        *recent = (struct dh_granule_recent){number, p};
    return p;
}

/* Not in the table yet: often nothing comes of it. */
static struct dh_granule_page *new_page(struct dh_granule_map *g, uint64_t number)
{
    struct dh_granule_page *p = g->spare ? g->spare : zeroed(1, sizeof *p);
    g->spare = NULL;
    p->number = number;
    return p;
}

static void add_page(struct dh_granule_map *g, struct dh_granule_page *p)
{
    if (!p->used) {
        g->spare = p;
        return;
    }
    if (2 * g->n >= g->cap)
        grow(g);
    g->slots[slot_of(g, p->number)] = p;
    g->n++;
}

/* Those behind a hole that belong at or before it move up, so that no search ends early. */
static void close_hole(struct dh_granule_map *g, size_t hole)
{
    for (size_t i = (hole + 1) & (g->cap - 1); g->slots[i]; i = (i + 1) & (g->cap - 1)) {
        size_t home = home_of(g, g->slots[i]->number);
        if (((i - home) & (g->cap - 1)) < ((i - hole) & (g->cap - 1)))
            continue;
        g->slots[hole] = g->slots[i];
        g->slots[i] = NULL;
        hole = i;
    }
}

static void remove_page(struct dh_granule_map *g, struct dh_granule_page *p)
{
    struct dh_granule_recent *recent = &g->recent[dh_granule_map_recent(p->number)];
    size_t slot = slot_of(g, p->number);
    if (recent->page == p)
        recent->page = NULL;
    g->slots[slot] = NULL;
    g->n--;
    free(p);
    close_hole(g, slot);
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

/* The bytes first..last, all of this page. True when it may be of nothing but 0 now. */
static bool step_page(struct dh_granule_page *p, uint64_t first, uint64_t last, bool known, dh_granule_update_fn *step,
                      void *arg)
{
    uint64_t granule = first & ~(uint64_t)(DH_GRANULE_BYTES - 1);
    size_t i = first % DH_GRANULE_PAGE_BYTES / DH_GRANULE_BYTES, end = last % DH_GRANULE_PAGE_BYTES / DH_GRANULE_BYTES;
    bool less = false;
    for (; i <= end; i++, granule += DH_GRANULE_BYTES) {
        uint32_t old = p->cells[i];
        if (known && !old)
            continue;
        uint32_t new = step(arg, old, granule, mask_of(granule, first, last));
        less = less || !new;
        if (new == old) /* the page's head is far from its cells */
            continue;
        p->cells[i] = new;
        p->used += (new != 0) - (old != 0);
    }
    return less;
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
        bool less = step_page(p, addr > start ? addr : start, last < end ? last : end, false, step, arg);
        if (!found)
            add_page(g, p);
        else if (less && !p->used)
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

/* A range of more pages than there are is not walked by address. */
static void visit_all(struct dh_granule_map *g, uint64_t addr, uint64_t last, dh_granule_update_fn *step, void *arg)
{
    uint64_t first_page = addr / DH_GRANULE_PAGE_BYTES, last_page = last / DH_GRANULE_PAGE_BYTES;
    struct dh_granule_page **pages = zeroed(g->n + 1, sizeof(struct dh_granule_page *));
    size_t n = 0;
    for (size_t i = 0; i < g->cap; i++)
        if (g->slots[i] && g->slots[i]->number >= first_page && g->slots[i]->number <= last_page)
            pages[n++] = g->slots[i];
    for (size_t i = 0; i < n; i++)
        visit_page(g, pages[i], addr, last, step, arg);
    free(pages);
}

void dh_granule_map_visit_range(struct dh_granule_map *g, uint64_t addr, uint64_t size, dh_granule_update_fn *step,
                                void *arg)
{
    if (!size || !g->n)
        return;
    uint64_t last = last_of(addr, size), first_page = addr / DH_GRANULE_PAGE_BYTES,
             last_page = last / DH_GRANULE_PAGE_BYTES;
    if (last_page - first_page >= g->n) {
        visit_all(g, addr, last, step, arg);
        return;
    }
    for (uint64_t number = first_page; number <= last_page; number++) {
        struct dh_granule_page *p = find_page(g, number);
        if (p)
            visit_page(g, p, addr, last, step, arg);
    }
}
