/* Two threads append a record by seeking to the end and writing: one record covers the other.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>

static void *appender(void *arg)
{
#ifdef FIXED
    int fd = open(in_folder("log"), O_WRONLY | O_APPEND);
#else
    int fd = open(in_folder("log"), O_WRONLY);
    lseek(fd, 0, SEEK_END);
#endif
    assert(write(fd, "entry\n", 6) == 6);
    close(fd);
    return arg;
}

int main(void)
{
    struct stat about;
    make_folder();
    put("log", "");
    RUN(appender, appender);
    assert(stat(in_folder("log"), &about) == 0 && about.st_size == 12);
    unlink(in_folder("log"));
    rmdir(folder);
    return 0;
}
