/* The writer locks the file with flock, the reader does not ask: it reads half of the new text.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>
#include <sys/file.h>

static void *writer(void *arg)
{
    int fd = open(in_folder("data"), O_RDWR);
    flock(fd, LOCK_EX);
    assert(pwrite(fd, "bb", 2, 0) == 2);
    assert(pwrite(fd, "bb", 2, 2) == 2);
    flock(fd, LOCK_UN);
    close(fd);
    return arg;
}

static void *reader(void *arg)
{
    char text[8] = "";
    int fd = open(in_folder("data"), O_RDONLY);
#ifdef FIXED
    flock(fd, LOCK_SH);
#endif
    assert(pread(fd, text, 4, 0) == 4);
    assert(text[0] == text[3]);
    close(fd);
    return arg;
}

int main(void)
{
    make_folder();
    put("data", "aaaa");
    RUN(reader, writer);
    unlink(in_folder("data"));
    rmdir(folder);
    return 0;
}
