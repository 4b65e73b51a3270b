/* Heap blocks with the contexts that allocated and freed them, marks for use after free, mappings, and accesses of
 * interposed library functions. */
#include "runtime/race/internal.h"
#include "runtime/sync/observer.h"

#include "runtime/core/context.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/platform/spin.h"
#include "runtime/race/shadow.h"
#include "runtime/race/thread_slots.h"
#include "runtime/report/report.h"

#include <sys/mman.h>

/* ---- records of blocks: the block map has the number of the record of the block that starts at an address ---- */

struct record {
    uint64_t size;
    uint32_t context;
    uint32_t thread; /* of a free record: the next free one */
};

enum {
    RECORD_BITS = 26,
    FREED_BITS = DH_CLOCK_BITS,
    MARKED = 1 << 10,
    LARGE = 1 << 20,
    LARGE_BLOCKS = 256,
    NEAR = LARGE / 16
};
#define RECORDS ((uint32_t)1 << RECORD_BITS)
#define RECORDS_LEAST ((uint32_t)1 << 16)
#define FREED ((uint32_t)1 << FREED_BITS)

static struct record *records;
static uint32_t n_records = RECORDS, next_record = 1, free_record;
static dh_spin records_lock = DH_SPIN_INIT(DH_RANK_RACE_BLOCKS);
static struct dh_freed_block *freed;
static _Atomic uint32_t next_freed = 1;

static void *reserve(size_t size)
{
    return dh_sys_mmap(size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
}

bool dh_heap_blocks_init(void)
{
    for (; !records && n_records >= RECORDS_LEAST;
         n_records /= records ? 1 : 2) /* fewer where nothing is overcommitted */
        records = reserve(n_records * sizeof *records);
    freed = reserve(FREED * sizeof *freed);
    return records && freed;
}

/* Blocks too large for a search backwards from an inner address; the oldest are forgotten. */
static uintptr_t large[LARGE_BLOCKS];
static unsigned next_large;

static uint32_t alloc_record(uintptr_t at, size_t size)
{
    dh_spin_lock(&records_lock);
    if (size > LARGE)
        large[next_large++ % LARGE_BLOCKS] = at;
    uint32_t id = free_record;
    if (id)
        free_record = records[id].thread;
    else if (next_record < n_records)
        id = next_record++;
    dh_spin_unlock(&records_lock);
    return id;
}

static void free_record_of(uint32_t id)
{
    dh_spin_lock(&records_lock);
    records[id].thread = free_record;
    free_record = id;
    dh_spin_unlock(&records_lock);
}

void dh_heap_blocks_forked(void)
{
    dh_spin_forked(&records_lock);
}

static void describe(uintptr_t at, uint32_t id, struct dh_heap_block *out)
{
    *out = (struct dh_heap_block){at, records[id].size, records[id].thread, records[id].context};
}

/* False: in the executable, on a stack or thread-local. */
static bool may_be_block(uintptr_t addr)
{
    extern const char __executable_start[], end[];
    uint32_t thread;
    return addr - (uintptr_t)__executable_start >= (uintptr_t)(end - __executable_start) &&
           dh_region_of(addr, &thread) == DH_REGION_OTHER;
}

static bool is_large_block(uintptr_t addr, struct dh_heap_block *out)
{
    bool found = false;
    dh_spin_lock(&records_lock);
    for (unsigned i = 0; i < LARGE_BLOCKS && !found; i++) {
        uintptr_t at = large[i];
        uint32_t id = at ? *dh_heap_block_word(at) : 0;
        if (id && addr - at < records[id].size) {
            describe(at, id, out);
            found = true;
        }
    }
    dh_spin_unlock(&records_lock);
    return found;
}

bool dh_heap_block_around(uintptr_t addr, struct dh_heap_block *out)
{
    uintptr_t at = addr & ~(uintptr_t)15;
    if (!may_be_block(addr))
        return false;
    if (is_large_block(addr, out))
        return true;
    for (int i = 0; i < NEAR && at; i++, at -= 16) {
        uint32_t id = *dh_heap_block_word(at);
        if (!id)
            continue;
        describe(at, id, out);
        return addr - at < out->size;
    }
    return false;
}

bool dh_freed_block_get(uint32_t number, struct dh_freed_block *out)
{
    *out = freed[number & (FREED - 1)];
    return out->block.at;
}

/* ---- heap ---- */

/* Small blocks follow one another in a page. */
static void touch_cells(struct dh_race_state *s, uintptr_t addr, size_t size)
{
    enum { MOST = 16 << 10 };
    if (s->touched == addr / DH_SHADOW_PAGE && s->touched == (addr + size) / DH_SHADOW_PAGE)
        return;
    dh_shadow_touch(addr, size < MOST ? size : MOST);
    s->touched = (addr + size) / DH_SHADOW_PAGE;
}

void dh_race_memory_allocated(const void *at, size_t size, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    uintptr_t addr = (uintptr_t)at;
    if (!at || !dh_race_enter(s))
        return;
    touch_cells(s, addr, size);
    dh_race_forget_range(s, addr, (size + 7) & ~(size_t)7); /* the rest of the last word belongs to no other block */
    uint32_t id = addr & 15 ? 0 : alloc_record(addr, size);
    if (id) {
        records[id] = (struct record){size, dh_race_call_context(s, call_slot), s->index};
        *dh_heap_block_word(addr) = id;
    }
    dh_race_leave(s);
}

void dh_race_memory_extended(const void *at, size_t size)
{
    struct dh_race_state *s = __dh_thread.race;
    uintptr_t addr = (uintptr_t)at;
    if (!at || (addr & 15) || !dh_race_enter(s))
        return;
    uint32_t id = *dh_heap_block_word(addr);
    if (id && records[id].size < size) {
        size_t known = (records[id].size + 7) & ~(size_t)7;
        if (known < size)
            dh_race_forget_range(s, addr + known, size - known);
        records[id].size = size;
    }
    dh_race_leave(s);
}

uint32_t dh_freed_block_add(const struct dh_freed_block *f)
{
    uint32_t number = atomic_fetch_add(&next_freed, 1) & (FREED - 1);
    if (!number)
        number = atomic_fetch_add(&next_freed, 1) & (FREED - 1);
    freed[number] = *f;
    return number;
}

static uint32_t note_freed(struct dh_race_state *s, const struct dh_heap_block *block, uint32_t context)
{
    return dh_freed_block_add(&(struct dh_freed_block){.block = *block, .thread = s->index, .context = context});
}

/* The cell says that all accesses to the granule happen before. */
static bool is_ordered(const struct dh_race_state *s, dh_cell cell)
{
    return !dh_cell_is_line(cell) && dh_clock_covers(&s->t.clock, dh_cell_read(cell)) &&
           dh_clock_covers(&s->t.clock, dh_cell_write(cell));
}

static bool all_ordered(const struct dh_race_state *s, uintptr_t addr, size_t size)
{
    for (uintptr_t at = addr; at < addr + size; at += 4)
        if (!is_ordered(s, *dh_shadow_of(at)))
            return false;
    return true;
}

/* Freeing writes all bytes: an access that is not ordered before it races. */
static void check_freeing(struct dh_race_state *s, const struct dh_heap_block *block, uintptr_t addr, size_t size,
                          const uintptr_t *call_slot)
{
    if (!call_slot || all_ordered(s, addr, size) || !dh_module_is_instrumented(*call_slot))
        return;
    s->report_context = dh_race_call_context(s, call_slot);
    s->by_library = true;
    s->frees = block;
    dh_race_access(s, addr, size, true, DH_PLACE_NONE);
    s->by_library = false;
    s->frees = NULL;
    s->report_context = DH_CONTEXT_ROOT;
}

/* Accesses from now on find the mark; earlier ones were checked, since no cell is overwritten that was not. */
static void mark_granule(struct dh_race_state *s, const struct dh_heap_block *block, uintptr_t at, dh_cell mark,
                         const uintptr_t *call_slot)
{
    dh_cell *cell = dh_shadow_of(at);
    for (;;) {
        dh_cell old = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
        if (is_ordered(s, old)) {
            if (__atomic_compare_exchange_n(cell, &old, mark, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                return;
            continue;
        }
        check_freeing(s, block, at, 4, call_slot); /* equal races are reported once */
        dh_race_forget(&dh_race_tables, cell, at);
    }
}

/* In both halves, so that every access finds it; no clock covers it. The rest of the last granule belongs to no other
 * block. */
static void mark_freed(struct dh_race_state *s, const struct dh_heap_block *block, uintptr_t addr, size_t size,
                       uint32_t number, const uintptr_t *call_slot)
{
    uint32_t epoch = dh_epoch_with(dh_epoch(DH_SLOT_FREED, number), DH_MASK_ALL);
    for (uintptr_t at = addr; at < addr + size; at += 4)
        mark_granule(s, block, at, dh_cell_of(epoch, epoch), call_slot);
    dh_race_forget_filter(s, addr, size);
}

void dh_race_memory_freed(const void *at, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    uintptr_t addr = (uintptr_t)at;
    if (!at || (addr & 15) || !dh_race_enter(s))
        return;
    uint32_t id = *dh_heap_block_word(addr);
    if (id) {
        struct dh_heap_block block;
        describe(addr, id, &block);
        size_t marked = block.size < MARKED ? block.size : MARKED;
        *dh_heap_block_word(addr) = 0;
        free_record_of(id);
        check_freeing(s, &block, addr, marked, call_slot);
        dh_sync_objects_remove(addr, block.size);
        /* The rest is forgotten when it is allocated again. */
        mark_freed(s, &block, addr, marked, note_freed(s, &block, dh_race_call_context(s, call_slot)), call_slot);
    }
    dh_race_leave(s);
}

/* No thread may access it until one accepts it: marked as freed memory is, for another reason. */
void dh_race_memory_transferred(const void *at, size_t size, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    uintptr_t addr = ((uintptr_t)at + 3) & ~(uintptr_t)3;
    if (!dh_race_enter(s))
        return;
    struct dh_heap_block block = {.at = (uintptr_t)at, .size = size};
    uint32_t number = note_freed(s, &block, dh_race_call_context(s, call_slot));
    freed[number].transferred = true;
    size_t marked = size < MARKED ? size : MARKED;
    dh_race_forget_range(s, (uintptr_t)at, marked);
    if ((uintptr_t)at + marked > addr)
        mark_freed(s, &block, addr, ((uintptr_t)at + marked - addr) & ~(size_t)3, number, NULL);
    dh_race_leave(s);
}

void dh_race_memory_accepted(const void *at, size_t size)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    dh_race_forget_range(s, (uintptr_t)at, size < MARKED ? size : MARKED);
    dh_race_leave(s);
}

/* ---- mappings ---- */

void dh_race_forget_memory(const void *at, size_t size)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!size || !dh_race_enter(s))
        return;
    dh_sync_objects_remove((uintptr_t)at, size);
    dh_race_forget_range(s, (uintptr_t)at, size);
    dh_race_leave(s);
}

void dh_race_memory_mapped(const void *at, size_t size, enum dh_event_region region)
{
    (void)region;
    dh_race_forget_memory(at, size);
}

void dh_race_memory_unmapped(const void *at, size_t size)
{
    dh_race_forget_memory(at, size);
}

/* ---- accesses of library functions ---- */

void dh_race_library_access(const void *at, size_t size, bool write, const uintptr_t *call_slot)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!size || !s || !call_slot || dh_race_filter_knows(s, (uintptr_t)at, size, write) ||
        !dh_module_is_instrumented(*call_slot) || !dh_race_enter(s))
        return;
    dh_shadow_prefetch((uintptr_t)at, size);
    s->report_context = dh_race_call_context(s, call_slot);
    s->by_library = true;
    dh_race_access(s, (uintptr_t)at, size, write, DH_PLACE_NONE);
    s->by_library = false;
    s->report_context = DH_CONTEXT_ROOT;
    dh_race_leave(s);
}
