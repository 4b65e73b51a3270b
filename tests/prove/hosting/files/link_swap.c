/* A symbolic link is repointed by removing and making it anew; link counts of a hard link are checked too early.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>

static void *switcher(void *arg)
{
    char current[128];
    strcpy(current, in_folder("current"));
#ifdef FIXED
    assert(symlink("two", in_folder("next")) == 0);
    assert(rename(in_folder("next"), current) == 0);
#else
    assert(unlink(current) == 0);
    assert(symlink("two", current) == 0);
#endif
    return arg;
}

static void *reader(void *arg)
{
    char target[16];
    assert(readlink(in_folder("current"), target, sizeof target) == 3);
    return arg;
}

int main(void)
{
    make_folder();
    assert(symlink("one", in_folder("current")) == 0);
    RUN(reader, switcher);
    unlink(in_folder("current"));
    rmdir(folder);
    return 0;
}
