/* ioctl of what is no model: files, and devices, whose state nobody can take back. */
#include "runtime/engine/system/files/file.h"

#include "runtime/engine/system/syscalls.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

/* They ask, or concern the number alone. */
static bool is_harmless(unsigned long request)
{
    static const unsigned long known[] = {TCGETS,    TIOCGWINSZ,      TIOCGPGRP,     TIOCGSID,          TIOCOUTQ,
                                          FIONREAD,  FIOCLEX,         FIONCLEX,      FIONBIO,           FIOQSIZE,
                                          FIGETBSZ,  FS_IOC_GETFLAGS, FS_IOC_FIEMAP, FS_IOC_GETVERSION, BLKGETSIZE64,
                                          BLKSSZGET, BLKROGET};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (request == known[i])
            return true;
    return false;
}

/* The layer is a file system that does not share blocks. */
static bool shares_blocks(unsigned long request)
{
    return request == FICLONE || request == FICLONERANGE || request == FIDEDUPERANGE;
}

long dh_files_ioctl(long number, const long a[6])
{
    unsigned long request = (unsigned)a[1];
    if (!dh_files_is_open(a[0]))
        return -EBADF;
    if (is_harmless(request))
        return dh_syscalls_pass_through(number, a);
    return shares_blocks(request) ? -EOPNOTSUPP : dh_syscalls_cannot(number);
}
