/* Who sets the attribute first owns the file; looking and setting are two calls.
 * Expected: assertion. */
#include "tmp.h"
#include "threads.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

static int fd;
static atomic_int owners;

static void *claimant(void *arg)
{
#ifdef FIXED
    if (fsetxattr(fd, "user.owner", "x", 1, XATTR_CREATE) == 0 || errno == ENOTSUP)
        owners++;
#else
    if (fgetxattr(fd, "user.owner", NULL, 0) < 0) {
        fsetxattr(fd, "user.owner", "x", 1, 0);
        owners++;
    }
#endif
    return arg;
}

int main(void)
{
    char path[] = "claimed-XXXXXX";
    fd = mkstemp(path);
    if (fd < 0 || fsetxattr(fd, "user.made", "x", 1, 0))
        return 0; /* this file system has none */
    unlink(path);
    RUN(claimant, claimant);
    assert(owners == 1);
    return 0;
}
