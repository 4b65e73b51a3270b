/* A shared mapping of a file is written by one thread while another truncates the file and takes the sum of nothing.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>
#include <sys/mman.h>

static char *map;
static int fd;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *rotator(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    char first;
    assert(pread(fd, &first, 1, 0) == 1);
    assert(ftruncate(fd, 1) == 0 && ftruncate(fd, 4096) == 0);
    assert(pwrite(fd, &first, 1, 0) == 1);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *counter(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    char now;
    assert(pread(fd, &now, 1, 0) == 1);
    now++;
    assert(pwrite(fd, &now, 1, 0) == 1);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

int main(void)
{
    make_folder();
    fd = open(in_folder("state"), O_RDWR | O_CREAT, 0600);
    assert(ftruncate(fd, 4096) == 0);
    map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    RUN(rotator, counter);
    assert(map[0] == 1);
    munmap(map, 4096);
    close(fd);
    unlink(in_folder("state"));
    rmdir(folder);
    return 0;
}
