#include "runtime/race/shadow.h"

#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <linux/memfd.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE ((uintptr_t)4096)

/* Without overcommit, private memory counts in full when it is mapped, pages of a memfd when they are written. The
 * shadow is then a memfd, for which fork and discarding pages differ. */
static bool is_file;

static enum dh_shadow_result map_at(uintptr_t at, size_t size, int flags, int fd, size_t from)
{
    long result = dh_syscall6(SYS_mmap, (long)at, (long)size, PROT_READ | PROT_WRITE, flags, fd, (long)from);
    if (result == (long)at)
        return DH_SHADOW_MAPPED;
    if (result > 0) /* an old kernel treats the address as a hint */
        dh_sys_munmap((void *)result, size);
    return result > 0 || result == -EEXIST ? DH_SHADOW_TAKEN : DH_SHADOW_LIMITED;
}

static void advise(uintptr_t at, size_t size, int advice)
{
    dh_syscall6(SYS_madvise, (long)at, (long)size, advice, 0, 0, 0);
}

/* The limit on file sizes is not meant for memory; exceeding it would raise a signal. */
static bool set_size(int fd, size_t size)
{
    struct rlimit before, raised;
    dh_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&before, 0, 0);
    raised = (struct rlimit){before.rlim_max, before.rlim_max};
    if (raised.rlim_cur < size)
        return false;
    dh_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, (long)&raised, 0, 0, 0);
    bool ok = dh_syscall3(SYS_ftruncate, fd, (long)size, 0) == 0;
    dh_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, (long)&before, 0, 0, 0);
    return ok;
}

static enum dh_shadow_result map_file(int more)
{
    int fd = (int)dh_syscall3(SYS_memfd_create, (long)"deadheat", MFD_CLOEXEC, 0);
    if (fd < 0)
        return DH_SHADOW_LIMITED;
    enum dh_shadow_result result = DH_SHADOW_LIMITED;
    if (set_size(fd, DH_BLOCKS_SIZE + DH_SHADOW_SIZE))
        result = map_at(DH_BLOCKS_BASE, DH_BLOCKS_SIZE + DH_SHADOW_SIZE, MAP_SHARED | MAP_NORESERVE | more, fd, 0);
    dh_sys_close(fd);
    return result;
}

static void exclude_from_dumps(void)
{
    advise(DH_BLOCKS_BASE, DH_BLOCKS_SIZE + DH_SHADOW_SIZE, MADV_DONTDUMP);
    advise(DH_BLOCKS_BASE, DH_BLOCKS_SIZE + DH_SHADOW_SIZE, MADV_NOHUGEPAGE);
}

enum dh_shadow_result dh_shadow_map(void)
{
    enum dh_shadow_result result = map_at(DH_BLOCKS_BASE, DH_BLOCKS_SIZE + DH_SHADOW_SIZE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (result == DH_SHADOW_LIMITED) {
        result = map_file(MAP_FIXED_NOREPLACE);
        is_file = result == DH_SHADOW_MAPPED;
    }
    exclude_from_dumps();
    return result;
}

bool dh_shadow_forked(void)
{
    if (!is_file)
        return true;
    bool ok = map_file(MAP_FIXED) == DH_SHADOW_MAPPED;
    exclude_from_dumps();
    return ok;
}

void dh_shadow_discard(uintptr_t at, size_t size)
{
    uintptr_t from = (uintptr_t)dh_shadow_of(at), to = from + 2 * size;
    from = (from + PAGE - 1) & ~(PAGE - 1);
    to &= ~(PAGE - 1);
    if (from < to)
        advise(from, to - from, is_file ? MADV_REMOVE : MADV_DONTNEED);
}

void dh_shadow_discard_all(void)
{
    advise(DH_SHADOW_BASE, DH_SHADOW_SIZE, is_file ? MADV_REMOVE : MADV_DONTNEED);
}
