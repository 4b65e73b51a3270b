/* The race check of an access of any size: shadow cells, filters and the thread's history. */
#include "runtime/core/public_hooks.h"

#include "runtime/platform/keeps_registers.h"
#include "runtime/race/internal.h"
#include "runtime/race/race_state.h"

#include "runtime/core/context.h"
#include "runtime/core/frames.h"
#include "runtime/core/hook_table.h"
#include "runtime/platform/bytes.h"
#include "runtime/race/cell_update.h"
#include "runtime/race/fast.h"
#include "runtime/race/shadow.h"
#include "runtime/race/thread_slots.h"

struct dh_race dh_race_tables;
bool dh_race_on;

/* ---- entering and leaving the detector ---- */

static bool ensure_slot(struct dh_race_state *s)
{
    if (!atomic_load_explicit(&s->gate.borrowed, memory_order_relaxed) && !dh_slot_is_exhausted(s))
        return true;
    if (!atomic_load_explicit(&s->gate.borrowed, memory_order_relaxed))
        dh_slot_release(s);
    atomic_store(&s->gate.borrowed, 1);
    if (!dh_slot_acquire(s))
        return false;
    dh_race_new_epoch(s);
    return true;
}

bool dh_race_enter(struct dh_race_state *s)
{
    if (!s || s->gate.busy || dh_race_ignores(s, DH_IGNORED_ALL) ||
        atomic_load_explicit(&s->gate.blocked, memory_order_relaxed) != DH_RACE_RUNNING)
        return false;
    s->gate.busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(!ensure_slot(s), 0)) {
        dh_race_leave(s);
        return false;
    }
    if (__builtin_expect(s->tls->own == DH_OWN_BORROWED || !s->tls->own,
                         0)) /* a thread wanted to borrow the slot, and gave up */
        s->tls->own = dh_cell_of(dh_epoch_with(s->t.time, DH_MASK_ALL), dh_epoch_with(s->t.time, DH_MASK_ALL));
    return true;
}

/* When stamps wrap around, lines of old epochs must not pass for present ones. */
static void forget_all_filtered(struct dh_race_state *s)
{
    s->stamp += (uint64_t)1 << DH_STAMP_SHIFT;
    if (!s->stamp)
        dh_bytes_zero(s->filter, sizeof s->filter);
    s->known_stamp += (uint64_t)1 << DH_KNOWN_SHIFT;
    if (!s->known_stamp) {
        dh_bytes_zero(s->known, sizeof s->known);
        s->known_stamp = (uint64_t)1 << DH_KNOWN_SHIFT;
    }
    s->tls->stamp = s->known_stamp;
}

void dh_race_new_epoch(struct dh_race_state *s)
{
    uint32_t epoch = dh_epoch_with(s->t.time, DH_MASK_ALL);
    forget_all_filtered(s);
    if (dh_race_history_room(s, 1))
        dh_history_add(&s->history, dh_history_meta(DH_META_TIME, s->t.time));
    __atomic_store_n(&s->tls->own, dh_cell_of(epoch, epoch), __ATOMIC_RELAXED);
}

/* ---- history ---- */

static void write_state(struct dh_race_state *s)
{
    struct dh_race_history *h = &s->history;
    dh_history_add(h, dh_history_meta(DH_META_NO_LOCKS, 0));
    dh_history_add(h, dh_history_meta(DH_META_TIME, s->t.time));
    for (uint32_t i = 0; i < s->n_held; i++) {
        dh_history_add(h, dh_history_meta(DH_META_LOCK_CONTEXT, s->held[i].context));
        dh_history_add(h, dh_history_meta(DH_META_ACQUIRED, s->held[i].lock | s->held[i].shared));
    }
    s->context_value = ~(uint64_t)0; /* the next access records its context again */
}

bool dh_race_history_room(struct dh_race_state *s, unsigned words)
{
    struct dh_race_history *h = &s->history;
    if (dh_history_has_room(h, words))
        return true;
    if (!h->words)
        return false;
    dh_history_next_part(h);
    write_state(s);
    return true;
}

static struct dh_known_context *known_context(struct dh_race_state *s, uint64_t value)
{
    struct dh_known_context *known = &s->contexts[value >> 56 & (DH_CONTEXT_CACHE - 1)];
    if (known->value != value) {
        known->id = dh_context_intern(s->tls);
        known->value = value;
    }
    return known;
}

uint32_t dh_race_context(struct dh_race_state *s)
{
    const struct dh_thread_state *tls = s->tls;
    uint32_t known = dh_frames_known(tls);
    if (!tls->frames)
        return DH_CONTEXT_ROOT;
    uint64_t value = tls->frames[(int64_t)known - 1].context;
    return known ? known_context(s, value)->id : DH_CONTEXT_ROOT;
}

/* The stack with the caller on top is a context like any other. */
uint32_t dh_race_call_context(struct dh_race_state *s, const uintptr_t *call_slot)
{
    const struct dh_thread_state *tls = s->tls;
    if (!call_slot || !tls->frames)
        return call_slot ? dh_context_extend(dh_race_context(s), *call_slot) : dh_race_context(s);
    uint64_t value = dh_context_step(tls->frames[(int64_t)dh_frames_known(tls) - 1].context, *call_slot);
    struct dh_known_context *known = &s->contexts[value >> 56 & (DH_CONTEXT_CACHE - 1)];
    if (known->value != value) {
        known->id = dh_context_extend(dh_race_context(s), *call_slot); /* first: it may use the same entry */
        known->value = value;
    }
    return known->id;
}

static void record_context(struct dh_race_state *s)
{
    uint32_t id = dh_race_context(s), known = dh_frames_known(s->tls);
    uint64_t value = s->tls->frames ? s->tls->frames[(int64_t)known - 1].context : ~(uint64_t)0;
    if (value == s->context_value && value != ~(uint64_t)0)
        return;
    s->context_value = value;
    dh_history_add(&s->history, dh_history_meta(DH_META_CONTEXT, id));
}

static void record_range(struct dh_race_state *s, uint64_t word, size_t size)
{
    dh_history_add(&s->history, word);
    dh_history_add(&s->history, dh_history_meta(DH_META_SIZE, size > UINT32_MAX ? UINT32_MAX : (uint32_t)size));
}

static void record_access(struct dh_race_state *s, uintptr_t addr, size_t size, bool write, uint32_t place)
{
    if (!dh_race_history_room(s, 3))
        return;
    if (s->report_context) { /* of a call, recorded with the access: what follows has the stack's context again */
        record_range(s, dh_history_access(DH_HISTORY_RANGE, addr, DH_HISTORY_LIBRARY, write, s->report_context), size);
        return;
    }
    record_context(s);
    if (size <= 16 && !(size & (size - 1)))
        dh_history_add(&s->history,
                       dh_history_access(DH_HISTORY_ACCESS, addr, (unsigned)__builtin_ctzl(size), write, place));
    else
        record_range(s, dh_history_access(DH_HISTORY_RANGE, addr, 0, write, place), size);
}

void dh_race_record_strided(struct dh_race_state *s, uintptr_t addr, uint32_t extent, uint32_t shape, bool write,
                            uint32_t place)
{
    if (!dh_race_history_room(s, 3))
        return;
    record_context(s);
    dh_history_add(&s->history, dh_history_access(DH_HISTORY_RANGE, addr, DH_HISTORY_STRIDED, write, place));
    dh_history_add(&s->history, dh_history_meta(DH_META_SIZE, (uint64_t)shape << 32 | extent));
}

/* ---- accesses ---- */

/* A part of a granule, at either end of a range. */
static bool compute_part(const struct dh_race_state *s, dh_cell *cell, unsigned mask, bool write,
                         struct dh_cell_update *next)
{
    dh_cell old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    if (dh_cell_is_line(old)) /* which is read next */
        dh_shadow_line_prefetch(&dh_race_tables.lines.at[dh_cell_line(old)]);
    return dh_cell_compute_update(s, old, mask, write, next);
}

/* Whole granules: in most ranges all cells are equal, and so are their updates. */
static bool compute_equal(const struct dh_race_state *s, dh_cell *cell, size_t n, bool write,
                          struct dh_cell_update *next)
{
    dh_cell old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    for (size_t i = 1; i < n; i++)
        if (__atomic_load_n(&cell[i], __ATOMIC_RELAXED) != old)
            return false;
    return dh_cell_compute_update(s, old, DH_MASK_ALL, write, next);
}

enum { MOST = 17 };

/* The same where cells differ. */
static bool update_each(struct dh_race_state *s, dh_cell *cell, size_t n, bool write)
{
    struct dh_cell_update next[MOST];
    for (size_t i = 0; i < n; i++) {
        dh_cell old = __atomic_load_n(&cell[i], __ATOMIC_RELAXED);
        if (i && old == next[i - 1].old)
            next[i] = next[i - 1];
        else if (!dh_cell_compute_update(s, old, DH_MASK_ALL, write, &next[i]))
            return false;
    }
    return dh_cells_store(s, cell, next, (unsigned)n);
}

/* As race/fast.c does it for single accesses. False: a shadow line is needed, or a cell changed meanwhile; cells that
 * were updated may be updated again. */
static bool update_cells_fast(struct dh_race_state *s, uintptr_t addr, size_t size, bool write)
{
    struct dh_cell_update first, middle, last;
    dh_cell *cell = dh_shadow_of(addr);
    size_t before = -addr & 3, whole = (size - before) / 4, after = (addr + size) & 3;
    if (size < 4 + before || size > 4 * MOST || s->recorded)
        return false;
    dh_cell *body = cell + (before > 0), *end = body + whole;
    if (after && !compute_part(s, end, DH_MASK_ALL >> (4 - after), write, &last))
        return false;
    if (before && !compute_part(s, cell, DH_MASK_ALL << (4 - before) & DH_MASK_ALL, write, &first))
        return false;
    s->t.dirty = true;
    if (compute_equal(s, body, whole, write, &middle) ? !dh_cells_store_equal(s, body, middle, whole)
                                                      : !update_each(s, body, whole, write))
        return false;
    return (!before || dh_cell_store(s, cell, first)) && (!after || dh_cell_store(s, end, last));
}

static void update_cells(struct dh_race_state *s, uintptr_t addr, size_t size, bool write, uint32_t place)
{
    if (update_cells_fast(s, addr, size, write))
        return;
    struct dh_checked_access a = {addr, size, write ? DH_WRITES : DH_READS, place, s->recorded};
    dh_race_record(&dh_race_tables, &s->t, dh_shadow_of(addr), &a);
}

enum { FILTERED = 512 };

/* By cache line: whether the filter has all of the range; adding it. */
static bool filter_knows(const struct dh_race_state *s, uintptr_t addr, size_t size, bool write)
{
    if (size > FILTERED)
        return false;
    for (uintptr_t end = addr + size; addr < end;) {
        unsigned n = 64 - (unsigned)(addr & 63);
        n = end - addr < n ? (unsigned)(end - addr) : n;
        if (!dh_filter_knows(s, addr, n, write))
            return false;
        addr += n;
    }
    return true;
}

static void filter_learns(struct dh_race_state *s, uintptr_t addr, size_t size, bool write)
{
    for (uintptr_t end = addr + size; addr < end;) {
        unsigned n = 64 - (unsigned)(addr & 63);
        n = end - addr < n ? (unsigned)(end - addr) : n;
        dh_filter_learn(s, addr, n, write);
        addr += n;
    }
}

bool dh_race_filter_knows(const struct dh_race_state *s, uintptr_t addr, size_t size, bool write)
{
    if (__builtin_expect((addr & 63) + size <= 64, 1))
        return dh_filter_knows(s, addr, (unsigned)size, write) || (!write && dh_module_is_constant(addr));
    return filter_knows(s, addr, size, write) || (!write && dh_module_is_constant(addr));
}

void dh_race_access(struct dh_race_state *s, uintptr_t addr, size_t size, bool write, uint32_t place)
{
    if (!size || dh_race_ignores(s, write ? DH_IGNORED_WRITES : DH_IGNORED_READS))
        return;
    s->access_addr = addr;
    s->access_size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    record_access(s, addr, size, write, place);
    if (size >= DH_SHADOW_PAGE)
        dh_shadow_touch(addr, size);
    update_cells(s, addr, size, write, place);
    if (!write && (size == 4 || size == 8 || size == 16) && !(addr & (size - 1)))
        dh_read_filter_learn(s, addr, (unsigned)size / 4);
    else if (size <= FILTERED)
        filter_learns(s, addr, size, write);
}

void dh_race_complete(uintptr_t addr, uint32_t what, uint32_t place, uint64_t value)
{
    struct dh_race_state *s = __dh_thread.race;
    if (!dh_race_enter(s))
        return;
    bool write = what >> 8 & 1, has_value = !(place & DH_PLACE_NO_VALUE);
    place &= ~DH_PLACE_NO_VALUE;
    s->value = value;
    s->has_value = write && has_value && (what & 255) <= 8;
    s->recorded = what >> 9 & 1;
    dh_race_access(s, addr, what & 255, write, place);
    s->has_value = s->recorded = false;
    dh_race_leave(s);
}

static void access_range(const void *at, size_t size, bool write, uint32_t place)
{
    struct dh_race_state *s = __dh_thread.race;
    if (dh_race_filter_knows(s, (uintptr_t)at, size, write) || !dh_race_enter(s))
        return;
    dh_shadow_prefetch((uintptr_t)at, size);
    dh_race_access(s, (uintptr_t)at, size, write, place);
    dh_race_leave(s);
}

/* ---- ranges ---- */

void __dh_read_range(const void *addr, size_t size, uint32_t place)
{
    if (__dh_thread.race)
        access_range(addr, size, false, place);
}

void __dh_write_range(void *addr, size_t size, uint32_t place)
{
    if (__dh_thread.race)
        access_range(addr, size, true, place);
}

/* ---- forgetting ---- */

enum { DROP_FROM = 64 << 10 };

static void forget_cells(uintptr_t addr, uintptr_t end)
{
    for (uintptr_t granule = addr & ~(uintptr_t)3; granule < end; granule += 4) {
        dh_cell *cell = dh_shadow_of(granule);
        if (!*cell || granule < addr || granule + 4 > end)
            continue;
        if (dh_cell_is_line(*cell))
            dh_race_forget(&dh_race_tables, cell, granule);
        else
            __atomic_store_n(cell, 0, __ATOMIC_RELAXED);
    }
}

/* This thread's filters must not have new memory; other threads' do not have what was freed after synchronisation. */
void dh_race_forget_filter(struct dh_race_state *s, uintptr_t addr, size_t size)
{
    enum { MANY = 16 << 10 };
    if (size >= MANY) {
        forget_all_filtered(s);
        return;
    }
    for (uintptr_t at = addr & ~(uintptr_t)63; at < addr + size; at += 64) {
        s->filter[at >> 6 & (DH_FILTER_LINES - 1)].tag = 0;
        s->known[at >> 6 & (DH_KNOWN_LINES - 1)] = 0;
    }
}

void dh_race_forget_range(struct dh_race_state *s, uintptr_t addr, size_t size)
{
    if (!size)
        return;
    dh_race_forget_filter(s, addr, size);
    if (size < 2 * DROP_FROM) {
        forget_cells(addr, addr + size);
        return;
    }
    /* Shadow lines that discarded pages of cells refer to are lost; there is room for some. Of a stack, the upper end
     * was used. */
    uintptr_t page = 2048, from = (addr + page - 1) & ~(page - 1), to = (addr + size - DROP_FROM) & ~(page - 1);
    forget_cells(addr, from);
    dh_shadow_discard(from, to - from);
    forget_cells(to, addr + size);
}

/* The calling convention of race/fast.h, for a C function that uses no vector registers. Reporting may call libc:
 * race/report.c saves them. */
DH_KEEPS_REGISTERS("__dh_race_complete", "dh_race_complete");
