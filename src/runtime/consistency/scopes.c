/* Units of threads: slots, what synchronisation does to them, and the hooks of accesses. */
#include "runtime/core/public_hooks.h"

#include "runtime/consistency/scopes.h"
#include "runtime/core/keeps_registers.h"

#include "runtime/consistency/consistency.h"
#include "runtime/core/bytes.h"
#include "runtime/core/options.h"
#include "runtime/core/print.h"
#include "runtime/core/raw_syscall.h"
#include "runtime/core/start.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { LOCKS = 4096, MOST_RANGE = 4096, MOST_FORGOTTEN = 512 };

bool dh_units_on;
static struct dh_consistency world;
static _Atomic bool taken[DH_SCOPE_SLOTS];
/* Who gave a lock last: its address << 8 | slot. A lock that is not there was given by anybody. */
static _Atomic uint64_t givers[LOCKS];

/* ---- threads ---- */

static struct dh_scope_thread *thread_at(uint32_t slot)
{
    if (!world.threads[slot]) {
        void *at = dh_sys_mmap((sizeof(struct dh_scope_thread) + 4095) & ~(size_t)4095, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS);
        __atomic_store_n(&world.threads[slot], at, __ATOMIC_RELEASE);
    }
    return world.threads[slot];
}

void dh_units_thread_begin(void)
{
    struct dh_thread_state *s = &__dh_thread;
    if (!dh_units_on || s->units)
        return;
    for (uint32_t i = 0; i + 1 < DH_SCOPE_SLOTS; i++) {
        uint32_t slot = 1 + (s->index + i) % (DH_SCOPE_SLOTS - 1);
        if (atomic_exchange(&taken[slot], true))
            continue;
        struct dh_scope_thread *t = thread_at(slot);
        if (!t)
            return;
        dh_scope_thread_begin(t, slot, s->index, &s->unit);
        s->unit_entries = &t->entries;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        s->units = t;
        return;
    }
}

void dh_units_thread_end(void)
{
    struct dh_thread_state *s = &__dh_thread;
    struct dh_scope_thread *t = s->units;
    if (!t)
        return;
    s->units = NULL;
    s->unit_entries = &dh_unit_no_entries;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    dh_scope_thread_end(t);
    atomic_store(&taken[t->slot], false);
}

void dh_units_forked(void)
{
    struct dh_scope_thread *mine = __dh_thread.units;
    for (uint32_t i = 1; i < DH_SCOPE_SLOTS; i++) {
        bool me = mine && mine->slot == i;
        atomic_store(&taken[i], me);
        if (world.threads[i] && !me)
            world.threads[i]->open = 0;
    }
    dh_units_acquired();
}

/* ---- the beginning ---- */

static bool has_inline_checks(void)
{
    for (const char *at = __dh_variant; *at; at++)
        if (dh_text_after(at, "consistency"))
            return true;
    return false;
}

static bool map_cells(void)
{
    long size = (long)(DH_SCOPE_CELLS * sizeof(uint64_t)), flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    long at =
        dh_syscall6(SYS_mmap, (long)DH_UNIT_CELLS_AT, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    return at == (long)DH_UNIT_CELLS_AT;
}

void dh_units_start(void)
{
    bool wanted = dh_options_detects("consistency");
    if (!wanted && !has_inline_checks())
        return;
    if (!map_cells()) {
        dh_print_stderr(
            "deadheat: no consistency detection in process %d: there is no room for its table: lift the limit "
            "on its memory, or run it without: deadheat run --detect=none --plan=none\n",
            dh_process.pid);
        dh_sys_exit_group(3);
    }
    world.cells = dh_unit_cells();
    dh_units_on = wanted;
    dh_units_thread_begin();
}

/* ---- synchronisation ---- */

static _Atomic uint64_t *giver_of(const void *lock)
{
    return &givers[((uintptr_t)lock >> 3 ^ (uintptr_t)lock >> 15) & (LOCKS - 1)];
}

void dh_units_lock_taken(const void *lock)
{
    struct dh_scope_thread *t = __dh_thread.units;
    if (t && atomic_load_explicit(giver_of(lock), memory_order_acquire) != ((uintptr_t)lock << 8 | t->slot))
        dh_scope_split(t);
}

void dh_units_lock_given(const void *lock)
{
    struct dh_scope_thread *t = __dh_thread.units;
    if (!t)
        return;
    dh_scope_close(t);
    atomic_store_explicit(giver_of(lock), (uintptr_t)lock << 8 | t->slot, memory_order_release);
}

/* Changes that were begun << 32 | changes that are done, of the atomics that share a row. */
static _Atomic uint64_t atomics[LOCKS];

static _Atomic uint64_t *atomic_row(uintptr_t addr)
{
    return &atomics[(addr >> 2 ^ addr >> 14) & (LOCKS - 1)];
}

void dh_units_atomic_changes(uintptr_t addr)
{
    atomic_fetch_add_explicit(atomic_row(addr), (uint64_t)1 << 32, memory_order_seq_cst);
}

void dh_units_atomic_changed(uintptr_t addr)
{
    atomic_fetch_add_explicit(atomic_row(addr), 1, memory_order_seq_cst);
}

uint64_t dh_units_atomic_version(uintptr_t addr)
{
    return atomic_load_explicit(atomic_row(addr), memory_order_acquire);
}

/* What the thread acquired last; rows are shared. */
enum { KNOWN = 16 };
static __thread struct {
    uintptr_t addr;
    uint64_t version, value;
} known[KNOWN];

/* The value tells of changes that nobody told us of. */
bool dh_units_atomic_known(uintptr_t addr, uint64_t version, uint64_t value)
{
    unsigned i = addr >> 2 & (KNOWN - 1);
    return known[i].addr == addr && known[i].version == version && known[i].value == value &&
           dh_units_atomic_version(addr) == version;
}

/* Nothing can be told of one that is being changed, nor when the halves overflow into each other. */
void dh_units_atomic_learn(uintptr_t addr, uint64_t version, uint64_t value)
{
    unsigned i = addr >> 2 & (KNOWN - 1);
    known[i].addr = 0;
    if ((uint32_t)version != version >> 32 || dh_units_atomic_version(addr) != version)
        return;
    known[i].version = version;
    known[i].value = value;
    known[i].addr = addr;
}

/* What others did to it is nothing to this thread. Of much memory that need not be said word by word. */
void dh_units_memory(const void *at, size_t size)
{
    if (!__dh_thread.units)
        return;
    if (size > MOST_FORGOTTEN) {
        dh_scope_split(__dh_thread.units);
        return;
    }
    for (uintptr_t a = (uintptr_t)at & ~(uintptr_t)7; a < (uintptr_t)at + size; a += 8)
        __atomic_store_n(dh_scope_cell(world.cells, a), 0, __ATOMIC_RELAXED);
}

/* ---- accesses ---- */

static void check(struct dh_scope_thread *t, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    struct dh_collision c;
    if (!dh_consistency_access(&world, t, addr, size, write, place, &c))
        return;
    dh_consistency_tell(&c);
}

void dh_unit_complete(uintptr_t addr, uint32_t what, uint32_t place)
{
    struct dh_scope_thread *t = __dh_thread.units;
    if (t)
        check(t, addr, what & 0xFF, what >> 8, place);
}

static void one(struct dh_scope_thread *t, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    bool done = write ? dh_scope_check_write(t->unit, &t->entries, world.cells, addr, size, place)
                      : dh_scope_check_read(t->unit, &t->entries, world.cells, addr, size, place);
    if (!done)
        check(t, addr, size, write, place);
}

void dh_units_access(uintptr_t addr, size_t size, bool write, uint32_t place)
{
    struct dh_scope_thread *t = __dh_thread.units;
    uintptr_t end = addr + (size < MOST_RANGE ? size : MOST_RANGE);
    while (t && addr < end) {
        uintptr_t next = (addr & ~(uintptr_t)7) + 8;
        one(t, addr, (unsigned)((next < end ? next : end) - addr), write, place);
        addr = next;
    }
}

void __dh_unit_read(const void *addr, size_t size, uint32_t place)
{
    dh_units_access((uintptr_t)addr, size, false, place);
}

void __dh_unit_write(void *addr, size_t size, uint32_t place)
{
    dh_units_access((uintptr_t)addr, size, true, place);
}

void __dh_unit_read_range(const void *addr, size_t size, uint32_t place)
{
    dh_units_access((uintptr_t)addr, size, false, place);
}

void __dh_unit_write_range(void *addr, size_t size, uint32_t place)
{
    dh_units_access((uintptr_t)addr, size, true, place);
}

void __dh_unit_range(uintptr_t addr, size_t size, uint32_t write, uint32_t place)
{
    dh_units_access(addr, size, write, place);
}

DH_KEEPS_REGISTERS("__dh_unit_complete", "dh_unit_complete");
