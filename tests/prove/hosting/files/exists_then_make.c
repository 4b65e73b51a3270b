/* Two threads look whether the lock file is there, and both make it.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>
#include <stdatomic.h>

static atomic_int owners;

static void *taker(void *arg)
{
#ifdef FIXED
    int fd = open(in_folder("lock"), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd < 0)
        return arg;
#else
    if (access(in_folder("lock"), F_OK) == 0)
        return arg;
    int fd = open(in_folder("lock"), O_CREAT | O_WRONLY, 0600);
#endif
    close(fd);
    owners++;
    return arg;
}

int main(void)
{
    make_folder();
    RUN(taker, taker);
    assert(owners == 1);
    unlink(in_folder("lock"));
    rmdir(folder);
    return 0;
}
