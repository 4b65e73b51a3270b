/* A counter in a shared mapping of a file is updated by two threads without a lock.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/mman.h>

static volatile int *count;

static void *adder(void *arg)
{
#ifdef FIXED
    __atomic_fetch_add(count, 1, __ATOMIC_SEQ_CST);
#else
    int now = *count;
    *count = now + 1;
#endif
    return arg;
}

int main(void)
{
    make_folder();
    int fd = open(in_folder("count"), O_RDWR | O_CREAT, 0600);
    assert(ftruncate(fd, 4096) == 0);
    count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    RUN(adder, adder);
    int in_file = 0;
    assert(pread(fd, &in_file, sizeof in_file, 0) == sizeof in_file);
    assert(in_file == 2);
    close(fd);
    unlink(in_folder("count"));
    rmdir(folder);
    return 0;
}
