/* Mappings: memory that comes from the kernel has no past, and what goes back is forgotten before it can come again. */
#include "runtime/interpose/interpose.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/race/layout.h"

#include <errno.h>

#define PAGE 4096

#define MAPS(name, offset)                                                                                             \
    static void *dh_interposed_##name(void *at, size_t n, int prot, int flags, int fd, offset from)                    \
    {                                                                                                                  \
        dh_interpose_ready();                                                                                          \
        if (flags & MAP_FIXED && !dh_layout_may_map(at, n)) {                                                          \
            errno = ENOMEM;                                                                                            \
            return MAP_FAILED;                                                                                         \
        }                                                                                                              \
        void *mapped = dh_real.name(at, n, prot, flags, fd, from);                                                     \
        if (mapped != MAP_FAILED) {                                                                                    \
            dh_layout_mapped(mapped, n);                                                                               \
            dh_memory_mapped(mapped, n, DH_MEMORY_MAPPED);                                                             \
        }                                                                                                              \
        return mapped;                                                                                                 \
    }                                                                                                                  \
    DH_INTERPOSE(name);

MAPS(mmap, off_t)
MAPS(mmap64, off64_t)

/* The kernel refuses what does not begin at a page. */
static bool is_page(const void *at)
{
    return (uintptr_t)at % PAGE == 0;
}

static int dh_interposed_munmap(void *at, size_t n)
{
    dh_interpose_ready();
    if (is_page(at))
        dh_memory_unmapped(at, n);
    return dh_real.munmap(at, n);
}
DH_INTERPOSE(munmap);

static void *dh_interposed_mremap(void *old, size_t before, size_t after, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(ap, void *) : NULL;
    va_end(ap);
    dh_interpose_ready();
    bool stays = flags & MREMAP_DONTUNMAP;
    if (is_page(old) && !stays && flags & MREMAP_MAYMOVE)
        dh_memory_unmapped(old, before);
    void *at = dh_real.mremap(old, before, after, flags, wanted);
    if (at == MAP_FAILED)
        return at;
    if (at != old)
        dh_memory_mapped(at, after, DH_MEMORY_MAPPED);
    else if (after > before)
        dh_memory_mapped((char *)at + before, after - before, DH_MEMORY_MAPPED);
    else
        dh_memory_unmapped((char *)at + after, before - after);
    return at;
}
DH_INTERPOSE(mremap);

static void break_moved(char *before, char *after)
{
    if (after > before)
        dh_memory_mapped(before, (size_t)(after - before), DH_MEMORY_MAPPED);
    else if (after < before)
        dh_memory_unmapped(after, (size_t)(before - after));
}

static void *dh_interposed_sbrk(intptr_t increment)
{
    dh_interpose_ready();
    char *before = dh_real.sbrk(increment);
    if (before != (char *)-1)
        break_moved(before, before + increment);
    return before;
}
DH_INTERPOSE(sbrk);

static int dh_interposed_brk(void *end)
{
    dh_interpose_ready();
    char *before = (char *)dh_syscall3(SYS_brk, 0, 0, 0);
    int result = dh_real.brk(end);
    if (result == 0)
        break_moved(before, end);
    return result;
}
DH_INTERPOSE(brk);

static void *dh_interposed_shmat(int id, const void *at, int flags)
{
    struct shmid_ds about;
    dh_interpose_ready();
    void *mapped = dh_real.shmat(id, at, flags);
    if (mapped != (void *)-1 && dh_syscall3(SYS_shmctl, id, IPC_STAT, (long)&about) >= 0)
        dh_memory_mapped(mapped, about.shm_segsz, DH_MEMORY_MAPPED);
    return mapped;
}
DH_INTERPOSE(shmat);
