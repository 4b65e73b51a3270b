/* The configuration is replaced by removing the old file and renaming the new one: a reader finds none in between.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>

static void *writer(void *arg)
{
    put("new", "two");
#ifndef FIXED
    unlink(in_folder("config"));
#endif
    char to[128];
    strcpy(to, in_folder("config"));
    rename(in_folder("new"), to);
    return arg;
}

static void *reader(void *arg)
{
    char text[16];
    assert(fetch("config", text, sizeof text) == 3);
    return arg;
}

int main(void)
{
    make_folder();
    put("config", "one");
    RUN(reader, writer);
    unlink(in_folder("config"));
    rmdir(folder);
    return 0;
}
