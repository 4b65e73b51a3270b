/* Scopes of threads: slots, the effect of synchronisation on them, and the hooks of accesses. */
#include "runtime/core/public_hooks.h"

#include "runtime/consistency/scopes.h"
#include "runtime/platform/keeps_registers.h"

#include "runtime/consistency/report.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum { LOCKS = 4096, MOST_RANGE = 4096, MOST_FORGOTTEN = 512 };

bool dh_scopes_on;
static struct dh_consistency detector;
static _Atomic bool slot_in_use[DH_SCOPE_SLOTS];
/* Last releases of locks: address << 8 | slot. A lock that is not in the table may have been released by any thread. */
static _Atomic uint64_t last_releases[LOCKS];

/* ---- threads ---- */

static struct dh_scope_thread *thread_at(uint32_t slot)
{
    if (!detector.threads[slot]) {
        void *at = dh_sys_mmap((sizeof(struct dh_scope_thread) + 4095) & ~(size_t)4095, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS);
        __atomic_store_n(&detector.threads[slot], at, __ATOMIC_RELEASE);
    }
    return detector.threads[slot];
}

void dh_scopes_thread_start(void)
{
    struct dh_thread_state *s = &__dh_thread;
    if (!dh_scopes_on || s->scope_thread)
        return;
    for (uint32_t i = 0; i + 1 < DH_SCOPE_SLOTS; i++) {
        uint32_t slot = 1 + (s->index + i) % (DH_SCOPE_SLOTS - 1);
        if (atomic_exchange(&slot_in_use[slot], true))
            continue;
        struct dh_scope_thread *t = thread_at(slot);
        if (!t)
            return;
        dh_scope_thread_begin(t, slot, s->index, &s->scope);
        s->scope_accesses = &t->entries;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        s->scope_thread = t;
        return;
    }
}

void dh_scopes_thread_exit(void)
{
    struct dh_thread_state *s = &__dh_thread;
    struct dh_scope_thread *t = s->scope_thread;
    if (!t)
        return;
    s->scope_thread = NULL;
    s->scope_accesses = &dh_scope_no_accesses;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    dh_scope_thread_end(t);
    atomic_store(&slot_in_use[t->slot], false);
}

void dh_scopes_forked(void)
{
    struct dh_scope_thread *mine = __dh_thread.scope_thread;
    for (uint32_t i = 1; i < DH_SCOPE_SLOTS; i++) {
        bool me = mine && mine->slot == i;
        atomic_store(&slot_in_use[i], me);
        if (detector.threads[i] && !me)
            detector.threads[i]->open = 0;
    }
    dh_scopes_sync_acquire();
}

/* ---- start ---- */

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
    long at = dh_syscall6(SYS_mmap, (long)DH_SCOPES_CELLS_AT, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE,
                          -1, 0);
    return at == (long)DH_SCOPES_CELLS_AT;
}

/* Maps the cells if the variant has checks, and starts the detector if it is on. */
void dh_scopes_start(void)
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
    detector.cells = dh_scopes_cells();
    dh_scopes_on = wanted;
    dh_scopes_thread_start();
}

/* ---- synchronisation ---- */

static _Atomic uint64_t *last_release_of(const void *lock)
{
    return &last_releases[((uintptr_t)lock >> 3 ^ (uintptr_t)lock >> 15) & (LOCKS - 1)];
}

void dh_scopes_lock_acquired(const void *lock)
{
    struct dh_scope_thread *t = __dh_thread.scope_thread;
    if (t && atomic_load_explicit(last_release_of(lock), memory_order_acquire) != ((uintptr_t)lock << 8 | t->slot))
        dh_scope_split(t);
}

void dh_scopes_lock_released(const void *lock)
{
    struct dh_scope_thread *t = __dh_thread.scope_thread;
    if (!t)
        return;
    dh_scope_close(t);
    atomic_store_explicit(last_release_of(lock), (uintptr_t)lock << 8 | t->slot, memory_order_release);
}

/* Changes begun << 32 | changes done, of the atomics that share an entry. */
static _Atomic uint64_t atomics[LOCKS];

static _Atomic uint64_t *atomic_row(uintptr_t addr)
{
    return &atomics[(addr >> 2 ^ addr >> 14) & (LOCKS - 1)];
}

void dh_scopes_atomic_begin_change(uintptr_t addr)
{
    atomic_fetch_add_explicit(atomic_row(addr), (uint64_t)1 << 32, memory_order_seq_cst);
}

void dh_scopes_atomic_end_change(uintptr_t addr)
{
    atomic_fetch_add_explicit(atomic_row(addr), 1, memory_order_seq_cst);
}

uint64_t dh_scopes_atomic_version(uintptr_t addr)
{
    return atomic_load_explicit(atomic_row(addr), memory_order_acquire);
}

/* Values that the thread acquired last; entries are shared. */
enum { KNOWN = 16 };
static __thread struct {
    uintptr_t addr;
    uint64_t version, value;
} known[KNOWN];

/* The value shows changes by code without hooks. */
bool dh_scopes_atomic_is_known(uintptr_t addr, uint64_t version, uint64_t value)
{
    unsigned i = addr >> 2 & (KNOWN - 1);
    return known[i].addr == addr && known[i].version == version && known[i].value == value &&
           dh_scopes_atomic_version(addr) == version;
}

/* Not while it is being changed, nor if a half has overflowed into the other. */
void dh_scopes_atomic_learn(uintptr_t addr, uint64_t version, uint64_t value)
{
    unsigned i = addr >> 2 & (KNOWN - 1);
    known[i].addr = 0;
    if ((uint32_t)version != version >> 32 || dh_scopes_atomic_version(addr) != version)
        return;
    known[i].version = version;
    known[i].value = value;
    known[i].addr = addr;
}

/* Earlier accesses to it are of no interest to this thread. For much memory a split of the scope is cheaper. */
void dh_scopes_forget_memory(const void *at, size_t size)
{
    if (!__dh_thread.scope_thread)
        return;
    if (size > MOST_FORGOTTEN) {
        dh_scope_split(__dh_thread.scope_thread);
        return;
    }
    for (uintptr_t a = (uintptr_t)at & ~(uintptr_t)7; a < (uintptr_t)at + size; a += 8)
        __atomic_store_n(dh_scope_cell(detector.cells, a), 0, __ATOMIC_RELAXED);
}

/* ---- accesses ---- */

static void check(struct dh_scope_thread *t, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    struct dh_collision c;
    if (!dh_consistency_access(&detector, t, addr, size, write, place, &c))
        return;
    dh_consistency_report(&c);
}

void dh_scopes_complete(uintptr_t addr, uint32_t what, uint32_t place)
{
    struct dh_scope_thread *t = __dh_thread.scope_thread;
    if (t)
        check(t, addr, what & 0xFF, what >> 8, place);
}

static void access_cell(struct dh_scope_thread *t, uintptr_t addr, unsigned size, bool write, uint32_t place)
{
    bool done = write ? dh_scope_check_write(t->unit, &t->entries, detector.cells, addr, size, place)
                      : dh_scope_check_read(t->unit, &t->entries, detector.cells, addr, size, place);
    if (!done)
        check(t, addr, size, write, place);
}

void dh_scopes_access(uintptr_t addr, size_t size, bool write, uint32_t place)
{
    struct dh_scope_thread *t = __dh_thread.scope_thread;
    uintptr_t end = addr + (size < MOST_RANGE ? size : MOST_RANGE);
    while (t && addr < end) {
        uintptr_t next = (addr & ~(uintptr_t)7) + 8;
        access_cell(t, addr, (unsigned)((next < end ? next : end) - addr), write, place);
        addr = next;
    }
}

void __dh_scope_read(const void *addr, size_t size, uint32_t place)
{
    dh_scopes_access((uintptr_t)addr, size, false, place);
}

void __dh_scope_write(void *addr, size_t size, uint32_t place)
{
    dh_scopes_access((uintptr_t)addr, size, true, place);
}

void __dh_scope_read_range(const void *addr, size_t size, uint32_t place)
{
    dh_scopes_access((uintptr_t)addr, size, false, place);
}

void __dh_scope_write_range(void *addr, size_t size, uint32_t place)
{
    dh_scopes_access((uintptr_t)addr, size, true, place);
}

void __dh_scope_range(uintptr_t addr, size_t size, uint32_t write, uint32_t place)
{
    dh_scopes_access(addr, size, write, place);
}

DH_KEEPS_REGISTERS("__dh_scope_complete", "dh_scopes_complete");
