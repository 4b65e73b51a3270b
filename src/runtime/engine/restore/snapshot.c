#include "runtime/engine/restore/snapshot.h"

#include "runtime/core/threads.h"
#include "runtime/engine/hook_removal.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/proc_maps.h"

#include <sys/mman.h>

enum {
    PAGE = DH_ENGINE_PAGE,
    REGIONS = 16384,
    ALTERED = 8192,
    /* The number of mappings is limited: after MANY_PAGES, CHUNK pages at a time are unprotected. */
    MANY_PAGES = 16384,
    CHUNK = 64,
    /* Of more pages than that, those that so many schedules in a row did not change are protected again. */
    LARGE_SET = 2048,
    IDLE = 16,
};

struct region {
    uintptr_t low, high;
    int protection;
    bool shared;    /* of a file in memory */
    bool is_blank;  /* reserved: nobody could write there */
    uint8_t *dirty; /* a byte per page */
};

struct copied {
    uint64_t *page, *copy;
    uint64_t idle; /* schedules in a row that left it as it was */
};

/* What the program may do with a range since it changed that in this schedule. */
struct altered {
    uintptr_t low, high;
    int protection;
};

/* Grows in reserved memory. */
struct copies {
    struct copied *at;
    size_t n, capacity;
    uint64_t **spare; /* copies to be used again, as many as fit in `capacity` */
    size_t n_spare;
};

static struct snapshot {
    struct region regions[REGIONS];
    unsigned n_regions;
    struct copies pages, apart; /* the latter of regions that could not be written at the snapshot */
    size_t n_fixed;             /* of `pages`, never protected */
    struct altered altered[ALTERED];
    unsigned n_altered;
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

static bool grow(struct copies *c)
{
    size_t capacity = c->capacity ? c->capacity * 2 : 4096;
    struct copied *larger = dh_keep_alloc(capacity * sizeof *larger);
    uint64_t **spare = dh_keep_alloc(capacity * sizeof *spare);
    if (!larger || !spare)
        return false;
    for (size_t i = 0; i < c->n; i++)
        larger[i] = c->at[i];
    for (size_t i = 0; i < c->n_spare; i++)
        spare[i] = c->spare[i];
    c->at = larger;
    c->spare = spare;
    c->capacity = capacity;
    return true;
}

static bool copy_before_write(struct region *r, uintptr_t page)
{
    struct copies *c = r->protection & PROT_WRITE ? &snapshot->pages : &snapshot->apart;
    if (c->n == c->capacity && !grow(c))
        return false;
    uint64_t *copy = c->n_spare ? c->spare[--c->n_spare] : dh_keep_alloc(PAGE);
    if (!copy)
        return false;
    copy_page(copy, (const uint64_t *)page);
    c->at[c->n++] = (struct copied){(uint64_t *)page, copy, 0};
    r->dirty[(page - r->low) / PAGE] = 1;
    return true;
}

static bool add_region(uintptr_t low, uintptr_t high, const struct dh_proc_mapping *m)
{
    if (low >= high)
        return true;
    if (snapshot->n_regions == REGIONS)
        return false;
    struct region *r = &snapshot->regions[snapshot->n_regions++];
    *r = (struct region){.low = low,
                         .high = high,
                         .protection = (m->readable ? PROT_READ : 0) | (m->writable ? PROT_WRITE : 0) |
                                       (m->executable ? PROT_EXEC : 0),
                         .shared = m->shared,
                         .is_blank = !m->readable && !m->writable && !m->executable && !m->inode,
                         .dirty = dh_keep_alloc((high - low) / PAGE)};
    return r->dirty;
}

static bool add_mapping(const struct dh_proc_mapping *m, void *unused)
{
    (void)unused;
    uintptr_t low = m->low, control = (uintptr_t)dh_engine->control, keep = (uintptr_t)dh_engine;
    if ((!m->writable && m->shared) || m->kernel || (control >= low && control < m->high) ||
        dh_hook_removal_owns(low, m->high))
        return true;
    /* The kernel merges neighbours: what lies before and behind KEEP memory is not. */
    if (keep < m->high && (dh_keep_contains(low) || low < keep)) {
        uintptr_t end = (uintptr_t)dh_engine->search_end;
        return (low >= keep || add_region(low, keep, m)) && add_region(end, m->high, m);
    }
    /* Below main's stack pointer its stack is free. */
    if (snapshot->main_sp >= low && snapshot->main_sp < m->high)
        low = snapshot->main_sp & ~(uintptr_t)(PAGE - 1);
    return add_region(low, m->high, m);
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

static void set_protection(uintptr_t low, uintptr_t high, int protection)
{
    dh_kernel_call(SYS_mprotect, (long)low, (long)(high - low), protection, 0, 0, 0);
}

/* As the program is to see it: clean pages stay protected against writing. */
static void protect_range(const struct region *r, uintptr_t low, uintptr_t high, int protection)
{
    for (uintptr_t at = low, end; at < high; at = end) {
        uint8_t dirty = r->dirty[(at - r->low) / PAGE];
        for (end = at; end < high && r->dirty[(end - r->low) / PAGE] == dirty; end += PAGE)
            ;
        set_protection(at, end, dirty ? protection : protection & ~PROT_WRITE);
    }
}

static void protect_clean(const struct region *r)
{
    if (r->protection & PROT_WRITE)
        protect_range(r, r->low, r->high, r->protection);
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
    snapshot->n_fixed = snapshot->pages.n;
    for (unsigned i = 0; i < snapshot->n_regions; i++)
        protect_clean(&snapshot->regions[i]);
    return true;
}

/* ---- writing ---- */

static const struct altered *find_altered(uintptr_t address)
{
    for (unsigned i = snapshot->n_altered; i > 0; i--)
        if (address >= snapshot->altered[i - 1].low && address < snapshot->altered[i - 1].high)
            return &snapshot->altered[i - 1];
    return NULL;
}

static int protection_at(const struct region *r, uintptr_t page)
{
    const struct altered *a = find_altered(page);
    return a ? a->protection : r->protection;
}

static bool save(struct region *r, uintptr_t low, uintptr_t high)
{
    for (uintptr_t page = low; page < high; page += PAGE)
        if (!r->dirty[(page - r->low) / PAGE] && !copy_before_write(r, page))
            return false;
    return true;
}

static bool unprotect(struct region *r, uintptr_t low, uintptr_t high)
{
    if (!save(r, low, high))
        return false;
    for (uintptr_t at = low, end; at < high; at = end) {
        int protection = protection_at(r, at);
        for (end = at; end < high && protection_at(r, end) == protection; end += PAGE)
            ;
        set_protection(at, end, protection);
    }
    return true;
}

bool dh_snapshot_fault(uintptr_t address)
{
    struct region *r = snapshot ? region_of(address) : NULL;
    uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    if (!r || r->dirty[(page - r->low) / PAGE] || !(protection_at(r, page) & PROT_WRITE))
        return false;
    if (snapshot->n_altered || !(r->protection & PROT_WRITE))
        return unprotect(r, page, page + PAGE);
    if (snapshot->pages.n < MANY_PAGES)
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

/* ---- what the program does to mappings ---- */

/* The part of the range in one region, from `low` on: its end. */
static uintptr_t part_end(const struct region *r, uintptr_t high)
{
    return r->high < high ? r->high : high;
}

/* The beginning of the first region behind the address. */
static uintptr_t next_region(uintptr_t address, uintptr_t high)
{
    for (unsigned i = 0; i < snapshot->n_regions; i++)
        if (snapshot->regions[i].low > address)
            return snapshot->regions[i].low < high ? snapshot->regions[i].low : high;
    return high;
}

bool dh_snapshot_each_part(uintptr_t low, uintptr_t high, bool (*each)(const struct dh_snapshot_part *, void *),
                           void *argument)
{
    uintptr_t end;
    for (uintptr_t at = low; at < high; at = end) {
        const struct region *r = snapshot ? region_of(at) : NULL;
        end = !snapshot ? high : r ? part_end(r, high) : next_region(at, high);
        struct dh_snapshot_part part = {at, end, r != NULL, r && r->is_blank, r && r->shared};
        if (!each(&part, argument))
            return false;
    }
    return true;
}

void dh_snapshot_alter(uintptr_t low, uintptr_t high, int protection)
{
    const struct altered *same = find_altered(low);
    if (same && same->low == low && same->high == high)
        snapshot->altered[same - snapshot->altered].protection = protection;
    else if (snapshot->n_altered == ALTERED)
        dh_engine_cannot("more changes of mappings in one schedule than can be undone");
    else
        snapshot->altered[snapshot->n_altered++] = (struct altered){low, high, protection};
    protect_range(region_of(low), low, high, protection);
}

bool dh_snapshot_save(uintptr_t low, uintptr_t high)
{
    struct region *r = region_of(low);
    protect_range(r, low, high, PROT_READ | PROT_WRITE);
    return save(r, low, high);
}

/* ---- restoring ---- */

/* Copies it back if it was changed. */
static void restore_changed(struct copied *c)
{
    const uint64_t *a = c->page, *b = c->copy;
    for (size_t i = 0; i < PAGE / sizeof *a; i += 8)
        if ((a[i] ^ b[i]) | (a[i + 1] ^ b[i + 1]) | (a[i + 2] ^ b[i + 2]) | (a[i + 3] ^ b[i + 3]) |
            (a[i + 4] ^ b[i + 4]) | (a[i + 5] ^ b[i + 5]) | (a[i + 6] ^ b[i + 6]) | (a[i + 7] ^ b[i + 7])) {
            copy_page(c->page, c->copy);
            c->idle = 0;
            return;
        }
    c->idle++;
}

/* Idle pages leave the set; neighbours in it are protected by one call. */
static void protect_idle(struct copies *set)
{
    uintptr_t low = 0, high = 0;
    size_t to = snapshot->n_fixed;
    const struct region *run = NULL;
    for (size_t i = snapshot->n_fixed; i < set->n; i++) {
        struct copied *c = &set->at[i];
        uintptr_t page = (uintptr_t)c->page;
        if (c->idle < IDLE) {
            set->at[to++] = *c;
            continue;
        }
        struct region *r = region_of(page);
        r->dirty[(page - r->low) / PAGE] = 0;
        set->spare[set->n_spare++] = c->copy;
        if (page != high || r != run) {
            if (run)
                set_protection(low, high, run->protection & ~PROT_WRITE);
            low = page;
            run = r;
        }
        high = page + PAGE;
    }
    if (run)
        set_protection(low, high, run->protection & ~PROT_WRITE);
    set->n = to;
}

static void restore_large_set(struct copies *set)
{
    size_t idle = 0;
    for (size_t i = 0; i < set->n; i++) {
        restore_changed(&set->at[i]);
        idle += set->at[i].idle >= IDLE;
    }
    if (idle > set->n / 2)
        protect_idle(set);
}

static void open_altered(void)
{
    for (unsigned i = 0; i < snapshot->n_altered; i++)
        set_protection(snapshot->altered[i].low, snapshot->altered[i].high, PROT_READ | PROT_WRITE);
}

/* Ranges become what they were. */
static void close_altered(void)
{
    const struct copies *apart = &snapshot->apart;
    for (size_t i = 0; i < apart->n; i++)
        if (find_altered((uintptr_t)apart->at[i].page))
            copy_page(apart->at[i].page, apart->at[i].copy);
    for (unsigned i = 0; i < snapshot->n_altered; i++) {
        const struct altered *a = &snapshot->altered[i];
        const struct region *r = region_of(a->low);
        protect_range(r, a->low, a->high, r->protection);
    }
    snapshot->n_altered = 0;
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
    struct copies *set = &snapshot->pages;
    open_altered();
    if (set->n > LARGE_SET)
        restore_large_set(set);
    else
        for (size_t i = 0; i < set->n; i++)
            copy_page(set->at[i].page, set->at[i].copy);
    if (snapshot->n_altered)
        close_altered();
    dh_engine->control->progress.dirty_pages = set->n;
}
