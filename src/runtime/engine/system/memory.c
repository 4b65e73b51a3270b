#include "runtime/engine/system/memory.h"

#include "runtime/engine/checks/hb_check.h"
#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/restore/undo.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/files/file_mappings.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <sys/mman.h>

enum { PAGE = DH_ENGINE_PAGE, RESIDENT = 256, CHECKED_MOST = 16 << 10 /* bytes */ };

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
    dh_files_at_snapshot();
}

/* Memory above the break of the snapshot is zeroed when it is allocated again. */
void dh_mappings_restore(void)
{
    if (breaks[1] > breaks[0])
        brk_now(breaks[0]);
    breaks[1] = breaks[0];
}

/* Below the break of the snapshot only the number changes; what is taken again is zero. */
long dh_mappings_brk(long number, const long a[6])
{
    (void)number;
    if (!a[0])
        return breaks[1];
    long zeroed = a[0] < breaks[0] ? a[0] : breaks[0];
    if (dh_engine->carrier->is_kernel)
        return brk_now(a[0]);
    if (zeroed > breaks[1])
        dh_bytes_zero((void *)breaks[1], (size_t)(zeroed - breaks[1]));
    return breaks[1] = a[0] < breaks[0] ? a[0] : brk_now(a[0]);
}

static bool failed(long at)
{
    return (unsigned long)at > -4096ul;
}

static long round_up(long size)
{
    return (size + PAGE - 1) & ~(long)(PAGE - 1);
}

/* ---- parts ---- */

/* Is any page of reserved memory in use after all? */
static bool is_resident(uintptr_t low, uintptr_t high)
{
    unsigned char pages[RESIDENT];
    for (uintptr_t at = low; at < high; at += RESIDENT * PAGE) {
        size_t n = (high - at) / PAGE < RESIDENT ? (high - at) / PAGE : RESIDENT;
        if (dh_kernel_call(SYS_mincore, (long)at, (long)(n * PAGE), (long)pages, 0, 0, 0) != 0)
            return true;
        for (size_t i = 0; i < n; i++)
            if (pages[i] & 1)
                return true;
    }
    return false;
}

static void log_blank(const struct dh_snapshot_part *p)
{
    dh_undo_log(DH_UNDO_BLANK, (long)p->low, (long)(p->high - p->low), 0);
}

struct protection {
    long value, result;
};

static bool protect_part(const struct dh_snapshot_part *p, void *argument)
{
    struct protection *to = argument;
    if (p->is_known && !(p->is_blank && !is_resident(p->low, p->high))) {
        dh_snapshot_alter(p->low, p->high, (int)to->value);
        return true;
    }
    if (p->is_known)
        log_blank(p);
    to->result = dh_kernel_call(SYS_mprotect, (long)p->low, (long)(p->high - p->low), to->value, 0, 0, 0);
    return to->result == 0;
}

/* Their content is kept, and what is mapped there at the end is replaced by memory for it. */
static bool save_part(const struct dh_snapshot_part *p, void *unused)
{
    (void)unused;
    if (!p->is_known)
        return true;
    if (p->is_blank && !is_resident(p->low, p->high)) {
        log_blank(p);
        return true;
    }
    if (p->shared || !dh_snapshot_save(p->low, p->high))
        return false;
    dh_snapshot_alter(p->low, p->high, PROT_READ | PROT_WRITE);
    dh_undo_log(DH_UNDO_REPLACE, (long)p->low, (long)(p->high - p->low), 0);
    return true;
}

static bool unmap_part(const struct dh_snapshot_part *p, void *unused)
{
    struct protection none = {PROT_NONE, 0};
    (void)unused;
    if (dh_engine->vanishes && !p->is_known) {
        dh_hb_check_unmapped(p->low, p->high - p->low);
        return dh_kernel_call(SYS_munmap, (long)p->low, (long)(p->high - p->low), 0, 0, 0, 0) == 0;
    }
    protect_part(p, &none);
    /* Addresses are not reused, memory is. */
    if (!p->is_known)
        dh_kernel_call(SYS_madvise, (long)p->low, (long)(p->high - p->low), MADV_DONTNEED, 0, 0, 0);
    return true;
}

static bool each_part(long at, long size, bool (*each)(const struct dh_snapshot_part *, void *), void *argument)
{
    return dh_snapshot_each_part((uintptr_t)at, (uintptr_t)(at + round_up(size)), each, argument);
}

/* ---- steps ---- */

/* Who takes memory away, or the right to it, and who accesses it at the same time: unordered that is a race, and which
 * comes first is a choice. `flags`: as which kind of access it counts. */
static void step_on(long at, long size, uint16_t flags)
{
    const struct dh_engine *e = dh_engine;
    uint32_t place = dh_engine_call_place();
    struct dh_step s = {.kind = flags & DH_STEP_WRITES ? DH_STEP_FREE : DH_STEP_READ,
                        .flags = flags,
                        .site = place,
                        .object = (uint64_t)at,
                        .size = (uint32_t)(size < CHECKED_MOST ? size : CHECKED_MOST)};
    if (!e->current || size <= 0)
        return;
    if (size > CHECKED_MOST) /* what conflicts beyond that is not seen: nothing is exhausted */
        e->control->progress.uncovered |= DH_GAP_MAPPINGS;
    if (place && (e->flags & DH_ENGINE_ALL_VISIBLE || (place < e->n_visible && e->visible[place])))
        dh_engine_park(&s);
    else
        dh_hb_check_access(&s);
}

/* A thread that still writes to what is sealed, or accesses what none may any more, comes too late. */
static void step_of_protection(const long a[6])
{
    if (!(a[2] & (PROT_READ | PROT_WRITE | PROT_EXEC)))
        step_on(a[0], a[1], DH_STEP_WRITES);
    else if (!(a[2] & PROT_WRITE))
        step_on(a[0], a[1], DH_STEP_READS);
}

/* ---- calls ---- */

long dh_mappings_map(long number, const long a[6])
{
    long fd = a[4], result = dh_shared_mappings_source(a, &fd);
    bool fixed = (a[3] & MAP_FIXED) && !dh_engine->carrier->is_kernel;
    if (result < 0)
        return result;
    if (fixed && (a[0] % PAGE || a[1] <= 0))
        return -EINVAL;
    if (a[3] & MAP_FIXED)
        step_on(a[0], a[1], DH_STEP_WRITES);
    if (fixed && !each_part(a[0], a[1], save_part, NULL))
        return dh_syscalls_cannot(number);
    long at = dh_kernel_call(number, a[0], a[1], a[2], a[3], fd, a[5]);
    if (failed(at))
        return at;
    dh_undo_log(DH_UNDO_UNMAP, at, a[1], 0);
    dh_shared_mappings_remove(at, round_up(a[1]));
    dh_shared_mappings_add(a, at);
    return at;
}

long dh_mappings_unmap(long number, const long a[6])
{
    if (a[0] % PAGE || a[1] <= 0)
        return -EINVAL;
    step_on(a[0], a[1], DH_STEP_WRITES);
    dh_shared_mappings_remove(a[0], round_up(a[1]));
    if (dh_engine->carrier->is_kernel) {
        dh_hb_check_unmapped((uintptr_t)a[0], (size_t)round_up(a[1]));
        return dh_kernel_call(number, a[0], a[1], 0, 0, 0, 0);
    }
    each_part(a[0], a[1], unmap_part, NULL);
    return 0;
}

static bool is_new(const struct dh_snapshot_part *p, void *unused)
{
    (void)unused;
    return !p->is_known;
}

/* Of this schedule: the kernel's, but the old addresses stay taken. */
static long move(const long a[6])
{
    long at = dh_kernel_call(SYS_mremap, a[0], a[1], a[2], a[3], a[4], 0);
    if (failed(at))
        return at;
    dh_undo_log(DH_UNDO_UNMAP, at, a[2], 0);
    if (at != a[0])
        dh_kernel_call(SYS_mmap, a[0], a[1], PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    return at;
}

/* By the kernel, which may reuse what is left. */
static long remap_for_real(const long a[6])
{
    long at = dh_kernel_call(SYS_mremap, a[0], a[1], a[2], a[3], a[4], 0);
    long size = round_up(a[1]), kept = at == a[0] ? round_up(a[2]) : 0;
    if (!failed(at) && kept < size)
        dh_hb_check_unmapped((uintptr_t)(a[0] + kept), (size_t)(size - kept));
    return at;
}

/* Of the snapshot: copied. */
static long move_copy(const long a[6])
{
    long at = dh_kernel_call(SYS_mmap, 0, a[2], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (failed(at))
        return at;
    dh_undo_log(DH_UNDO_UNMAP, at, a[2], 0);
    dh_bytes_copy((void *)at, (const void *)a[0], (size_t)a[1]);
    each_part(a[0], a[1], unmap_part, NULL);
    return at;
}

long dh_mappings_remap(long number, const long a[6])
{
    long size = round_up(a[1]), wanted = round_up(a[2]);
    if (a[0] % PAGE || !wanted)
        return -EINVAL;
    if (!size || a[3] & ~(MREMAP_MAYMOVE | MREMAP_FIXED))
        return dh_syscalls_cannot(number);
    step_on(a[0], size, DH_STEP_WRITES);
    dh_shared_mappings_remove(a[0], size);
    if (dh_engine->carrier->is_kernel)
        return remap_for_real(a);
    if (a[3] & MREMAP_FIXED && !(each_part(a[0], size, is_new, NULL) && each_part(a[4], wanted, is_new, NULL)))
        return dh_syscalls_cannot(number);
    if (!(a[3] & MREMAP_FIXED) && wanted <= size) {
        if (wanted < size)
            each_part(a[0] + wanted, size - wanted, unmap_part, NULL);
        return a[0];
    }
    if (!(a[3] & MREMAP_MAYMOVE))
        return -ENOMEM;
    return each_part(a[0], size, is_new, NULL) ? move(a) : move_copy(a);
}

long dh_mappings_protect(long number, const long a[6])
{
    struct protection to = {a[2], 0};
    step_of_protection(a);
    if (dh_engine->carrier->is_kernel || a[0] % PAGE || a[1] <= 0)
        return dh_kernel_call(number, a[0], a[1], a[2], 0, 0, 0);
    each_part(a[0], a[1], protect_part, &to);
    return to.result;
}

static bool drop_part(const struct dh_snapshot_part *p, void *unused)
{
    (void)unused;
    if (p->is_known && !p->is_blank && !p->shared)
        dh_snapshot_unprotect(p->low, p->high - p->low);
    return true;
}

/* What may be dropped later never is. */
long dh_mappings_advise(long number, const long a[6])
{
    bool drops = a[2] == MADV_DONTNEED || a[2] == MADV_REMOVE;
    if (a[2] == MADV_FREE && !dh_engine->carrier->is_kernel)
        return 0;
    if (drops)
        step_on(a[0], a[1], DH_STEP_WRITES);
    if (drops && !dh_engine->carrier->is_kernel && a[1] > 0)
        each_part(a[0], a[1], drop_part, NULL);
    return dh_kernel_call(number, a[0], a[1], a[2], 0, 0, 0);
}
