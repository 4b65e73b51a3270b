/* The secret file is made readable by all first and protected by chmod later: another thread finds it open.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>

static void *writer(void *arg)
{
#ifdef FIXED
    int fd = open(in_folder("secret"), O_CREAT | O_WRONLY | O_EXCL, 0600);
#else
    umask(0);
    int fd = open(in_folder("secret"), O_CREAT | O_WRONLY | O_EXCL, 0666);
    fchmod(fd, 0600);
#endif
    close(fd);
    return arg;
}

static void *auditor(void *arg)
{
    struct stat about;
    if (stat(in_folder("secret"), &about) == 0)
        assert((about.st_mode & 077) == 0);
    return arg;
}

int main(void)
{
    make_folder();
    RUN(auditor, writer);
    unlink(in_folder("secret"));
    rmdir(folder);
    return 0;
}
