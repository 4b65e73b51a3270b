#include "runtime/engine/system/user_memory.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/platform/bytes.h"

#include <errno.h>

struct span {
    long at;
    size_t n;
};

/* Where the kernel does not allow it, trusts the pointer. */
static bool transfer(long how, void *own, long other, size_t n)
{
    struct span here = {(long)own, n}, there = {other, n};
    if (!n)
        return true;
    /* Not dh_process.pid: a schedule may run in a child. */
    long self = dh_kernel_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
    long done = dh_kernel_call(how, self, (long)&here, 1, (long)&there, 1, 0);
    if (done == -ENOSYS || done == -EPERM) {
        bool reads = how == SYS_process_vm_readv;
        dh_bytes_copy(reads ? own : (void *)other, reads ? (const void *)other : own, n);
        return true;
    }
    return done == (long)n;
}

bool dh_user_read(void *to, long from, size_t n)
{
    return transfer(SYS_process_vm_readv, to, from, n);
}

bool dh_user_write(long to, const void *from, size_t n)
{
    dh_snapshot_unprotect((uintptr_t)to, n);
    return transfer(SYS_process_vm_writev, (void *)from, to, n);
}

/* By pages, since the text may end where the next page is not readable. */
long dh_user_read_text(char *to, size_t n, long from)
{
    size_t at = 0;
    while (at < n) {
        size_t left = DH_ENGINE_PAGE - (size_t)(from + (long)at) % DH_ENGINE_PAGE, part = left < n - at ? left : n - at;
        if (!dh_user_read(to + at, from + (long)at, part))
            return -EFAULT;
        for (size_t end = at + part; at < end; at++)
            if (!to[at])
                return (long)at;
    }
    return -ENAMETOOLONG;
}
