#include "runtime/engine/system/memory.h"

#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/engine/system/undo.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/mman.h>

static long *breaks; /* at the snapshot, and now */

static long brk_now(long to)
{
    return dh_kernel_call(SYS_brk, to, 0, 0, 0, 0, 0);
}

void dh_mappings_begin(void)
{
    breaks = dh_keep_alloc(2 * sizeof *breaks);
    if (!breaks)
        dh_engine_cannot("no memory");
    breaks[0] = breaks[1] = brk_now(0);
}

/* Memory above the break of the snapshot is zeroed when it is allocated again. */
void dh_mappings_restore(void)
{
    if (breaks[1] != breaks[0])
        breaks[1] = brk_now(breaks[0]);
}

long dh_mappings_brk(long number, const long a[6])
{
    (void)number;
    if (a[0] < breaks[0])
        return a[0] ? a[0] : breaks[1];
    return breaks[1] = brk_now(a[0]);
}

static bool failed(long at)
{
    return (unsigned long)at > -4096ul;
}

long dh_mappings_map(long number, const long a[6])
{
    if (a[3] & MAP_FIXED && dh_snapshot_covers((uintptr_t)a[0]))
        return dh_syscalls_cannot(number);
    long at = dh_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!failed(at))
        dh_undo_log(DH_UNDO_UNMAP, at, a[1], 0);
    return at;
}

long dh_mappings_unmap(long number, const long a[6])
{
    (void)number;
    if (dh_snapshot_covers((uintptr_t)a[0]))
        return 0;
    return dh_kernel_call(SYS_mprotect, a[0], a[1], PROT_NONE, 0, 0, 0);
}

/* Always moves, unless it shrinks. */
long dh_mappings_remap(long number, const long a[6])
{
    long from = a[0], size = a[1], wanted = a[2];
    if (wanted <= size)
        return from;
    if (!(a[3] & MREMAP_MAYMOVE))
        return -ENOMEM;
    if (a[3] & MREMAP_FIXED)
        return dh_syscalls_cannot(number);
    long at = dh_kernel_call(SYS_mmap, 0, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (failed(at))
        return at;
    dh_undo_log(DH_UNDO_UNMAP, at, wanted, 0);
    dh_bytes_copy((void *)at, (const void *)from, (size_t)size);
    return at;
}

long dh_mappings_protect(long number, const long a[6])
{
    if (!dh_snapshot_covers((uintptr_t)a[0]))
        return dh_kernel_call(number, a[0], a[1], a[2], 0, 0, 0);
    dh_snapshot_unprotect((uintptr_t)a[0], (size_t)a[1]);
    dh_undo_log(DH_UNDO_PROTECT, a[0], a[1], 0);
    return dh_kernel_call(number, a[0], a[1], a[2], 0, 0, 0);
}

long dh_mappings_advise(long number, const long a[6])
{
    bool drops = a[2] == MADV_DONTNEED || a[2] == MADV_FREE || a[2] == MADV_REMOVE;
    if (!drops || !dh_snapshot_covers((uintptr_t)a[0]))
        return dh_kernel_call(number, a[0], a[1], a[2], 0, 0, 0);
    if (a[2] == MADV_DONTNEED)
        dh_bytes_zero((void *)a[0], (size_t)a[1]);
    return 0;
}
