#include "runtime/engine/snapshot.h"

#include "runtime/core/threads.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/proc_maps.h"

#include <sys/mman.h>

enum {
    PAGE = DH_ENGINE_PAGE,
    REGIONS = 4096,
    /* The number of mappings is limited: after MANY_PAGES, CHUNK pages at a time are unprotected. */
    MANY_PAGES = 16384,
    CHUNK = 64,
};

struct region {
    uintptr_t low, high;
    int protection;
    uint8_t *dirty; /* a byte per page */
};

struct copied {
    uint64_t *page, *copy;
};

static struct snapshot {
    struct region regions[REGIONS];
    unsigned n_regions;
    struct copied *copied; /* grows in reserved memory */
    size_t n_copied, capacity;
    uintptr_t main_sp;
} *snapshot;

static inline void copy_page(uint64_t *to, const uint64_t *from)
{
    size_t n = PAGE / sizeof *to;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static struct region *region_of(uintptr_t address)
{
    unsigned low = 0, high = snapshot->n_regions;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (address >= snapshot->regions[middle].high)
            low = middle + 1;
        else
            high = middle;
    }
    struct region *r = &snapshot->regions[low];
    return low < snapshot->n_regions && address >= r->low ? r : NULL;
}

static bool grow_list(void)
{
    size_t capacity = snapshot->capacity ? snapshot->capacity * 2 : 4096;
    struct copied *larger = dh_keep_alloc(capacity * sizeof *larger);
    if (!larger)
        return false;
    for (size_t i = 0; i < snapshot->n_copied; i++)
        larger[i] = snapshot->copied[i];
    snapshot->copied = larger;
    snapshot->capacity = capacity;
    return true;
}

static bool copy_before_write(struct region *r, uintptr_t page)
{
    if (snapshot->n_copied == snapshot->capacity && !grow_list())
        return false;
    uint64_t *copy = dh_keep_alloc(PAGE);
    if (!copy)
        return false;
    copy_page(copy, (const uint64_t *)page);
    snapshot->copied[snapshot->n_copied++] = (struct copied){(uint64_t *)page, copy};
    r->dirty[(page - r->low) / PAGE] = 1;
    return true;
}

static bool add_region(uintptr_t low, uintptr_t high, int protection)
{
    if (low >= high)
        return true;
    if (snapshot->n_regions == REGIONS)
        return false;
    struct region *r = &snapshot->regions[snapshot->n_regions++];
    *r = (struct region){low, high, protection, dh_keep_alloc((high - low) / PAGE)};
    return r->dirty;
}

static bool add_mapping(const struct dh_proc_mapping *m, void *unused)
{
    (void)unused;
    uintptr_t low = m->low, control = (uintptr_t)dh_engine->control;
    if (!m->writable || m->kernel || dh_keep_contains(low) || (control >= low && control < m->high))
        return true;
    /* Below main's stack pointer its stack is free. */
    if (snapshot->main_sp >= low && snapshot->main_sp < m->high)
        low = snapshot->main_sp & ~(uintptr_t)(PAGE - 1);
    return add_region(low, m->high, PROT_READ | PROT_WRITE);
}

/* What the kernel writes without a fault is always copied back: main's stack up to the arguments, for signal frames,
 * and the restartable sequence's record. */
static bool copy_range(uintptr_t low, uintptr_t high)
{
    for (uintptr_t page = low & ~(uintptr_t)(PAGE - 1); page < high; page += PAGE) {
        struct region *r = region_of(page);
        if (r && !r->dirty[(page - r->low) / PAGE] && !copy_before_write(r, page))
            return false;
    }
    return true;
}

static void protect_clean(const struct region *r)
{
    size_t n = (r->high - r->low) / PAGE;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && r->dirty[end] == r->dirty[i]; end++)
            ;
        if (!r->dirty[i])
            dh_kernel_call(SYS_mprotect, (long)(r->low + i * PAGE), (long)((end - i) * PAGE), PROT_READ, 0, 0, 0);
    }
}

bool dh_snapshot_take(uintptr_t main_sp)
{
    snapshot = dh_keep_alloc(sizeof *snapshot);
    if (!snapshot)
        return false;
    snapshot->main_sp = main_sp - 1024; /* the red zone and what the switch saved */
    uintptr_t self = dh_engine->tasks[0].fs;
    if (!dh_proc_maps_each(add_mapping, NULL) || !copy_range(snapshot->main_sp, __dh_thread.stack_high) ||
        !copy_range(self, self + 0x1000))
        return false;
    for (unsigned i = 0; i < snapshot->n_regions; i++)
        protect_clean(&snapshot->regions[i]);
    return true;
}

static bool unprotect(struct region *r, uintptr_t low, uintptr_t high)
{
    for (uintptr_t page = low; page < high; page += PAGE)
        if (!r->dirty[(page - r->low) / PAGE] && !copy_before_write(r, page))
            return false;
    return dh_kernel_call(SYS_mprotect, (long)low, (long)(high - low), r->protection, 0, 0, 0) == 0;
}

bool dh_snapshot_fault(uintptr_t address)
{
    struct region *r = snapshot ? region_of(address) : NULL;
    uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    if (!r || r->dirty[(page - r->low) / PAGE])
        return false;
    if (snapshot->n_copied < MANY_PAGES)
        return unprotect(r, page, page + PAGE);
    uintptr_t low = page & ~(uintptr_t)(CHUNK * PAGE - 1), high = low + CHUNK * PAGE;
    return unprotect(r, low > r->low ? low : r->low, high < r->high ? high : r->high);
}

bool dh_snapshot_unprotect(uintptr_t address, size_t size)
{
    bool any = false;
    if (!size)
        return false;
    for (uintptr_t page = address & ~(uintptr_t)(PAGE - 1); page < address + size; page += PAGE)
        any |= dh_snapshot_fault(page);
    return any;
}

bool dh_snapshot_covers(uintptr_t address)
{
    return snapshot && region_of(address);
}

void dh_snapshot_abandon(void)
{
    for (unsigned i = 0; snapshot && i < snapshot->n_regions; i++) {
        const struct region *r = &snapshot->regions[i];
        dh_kernel_call(SYS_mprotect, (long)r->low, (long)(r->high - r->low), r->protection, 0, 0, 0);
    }
}

void dh_snapshot_restore(void)
{
    for (size_t i = 0; i < snapshot->n_copied; i++)
        copy_page(snapshot->copied[i].page, snapshot->copied[i].copy);
    dh_engine->control->progress.dirty_pages = snapshot->n_copied;
    dh_engine->control->progress.restore_bytes += snapshot->n_copied * PAGE;
}
