#include "runtime/shadow.h"

#include "runtime/raw_syscall.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)
#define CHUNK_BITS 22 /* of the program's memory that is committed together where nothing is overcommitted */
#define CHUNKS ((size_t)1 << (DH_WINDOW_BITS - CHUNK_BITS))

bool dh_shadow_is_lazy;
static _Atomic uint8_t *committed; /* a byte per chunk, itself mapped lazily */

static long map_at(uintptr_t at, size_t size, int protection)
{
    return dh_syscall6(SYS_mmap, (long)at, (long)size, protection,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

static void advise(uintptr_t at, size_t size, int advice)
{
    dh_syscall6(SYS_madvise, (long)at, (long)size, advice, 0, 0, 0);
}

static bool map_region(uintptr_t at, size_t size)
{
    long result = map_at(at, size, PROT_READ | PROT_WRITE);
    if (result != (long)at) {
        if (result >= 0)
            dh_sys_munmap((void *)result, size);
        /* Without overcommit only what may be written counts: readable memory is all zero until it is asked for. */
        result = map_at(at, size, PROT_READ);
        dh_shadow_is_lazy = true;
    }
    if (result != (long)at)
        return false;
    advise(at, size, MADV_DONTDUMP);
    advise(at, size, MADV_NOHUGEPAGE);
    return true;
}

bool dh_shadow_map(const char **why)
{
    *why = "its address space is limited (ulimit -v) or taken";
    if (!map_region(DH_SHADOW_BASE, DH_SHADOW_SIZE) || !map_region(DH_BLOCKS_BASE, DH_BLOCKS_SIZE))
        return false;
    if (!dh_shadow_is_lazy)
        return true;
    committed = dh_sys_mmap(CHUNKS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    *why = "there is no memory for its tables";
    return committed;
}

static bool make_writable(uintptr_t at, size_t size)
{
    return dh_syscall6(SYS_mprotect, (long)at, (long)size, PROT_READ | PROT_WRITE, 0, 0, 0) == 0;
}

static bool commit_chunk(size_t chunk)
{
    if (atomic_load_explicit(&committed[chunk], memory_order_relaxed))
        return true;
    uintptr_t at = (uintptr_t)chunk << CHUNK_BITS;
    size_t size = (size_t)1 << CHUNK_BITS;
    if (!make_writable(DH_SHADOW_BASE + 2 * at, 2 * size) || !make_writable(DH_BLOCKS_BASE + at / 4, size / 4))
        return false;
    atomic_store_explicit(&committed[chunk], 1, memory_order_relaxed);
    return true;
}

bool dh_shadow_commit(uintptr_t at, size_t size)
{
    size_t first = (at & DH_WINDOW_MASK) >> CHUNK_BITS, last = ((at + size - 1) & DH_WINDOW_MASK) >> CHUNK_BITS;
    bool ok = true;
    for (size_t i = first; i <= last; i++)
        ok = commit_chunk(i) && ok;
    return ok;
}

void dh_shadow_drop(uintptr_t at, size_t size)
{
    uintptr_t from = (uintptr_t)dh_shadow_of(at), to = from + 2 * size;
    from = (from + PAGE - 1) & ~(PAGE - 1);
    to &= ~(PAGE - 1);
    if (from < to)
        advise(from, to - from, MADV_DONTNEED);
}

void dh_shadow_drop_all(void)
{
    advise(DH_SHADOW_BASE, DH_SHADOW_SIZE, MADV_DONTNEED);
}
