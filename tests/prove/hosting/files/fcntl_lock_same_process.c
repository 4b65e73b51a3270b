/* POSIX record locks belong to the process: two threads both get the lock and both number their record alike.
 * Expected: assertion. */
#include "threads.h"
#include "tmp.h"

#include <assert.h>

static int numbers[2];
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *clerk(void *arg)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(in_folder("counter"), O_RDWR);
    char digit;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    assert(fcntl(fd, F_SETLKW, &all) == 0);
    assert(pread(fd, &digit, 1, 0) == 1);
    numbers[(long)arg] = digit;
    digit++;
    assert(pwrite(fd, &digit, 1, 0) == 1);
    all.l_type = F_UNLCK;
    fcntl(fd, F_SETLK, &all);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    close(fd);
    return NULL;
}

int main(void)
{
    make_folder();
    put("counter", "0");
    RUN(clerk, clerk);
    assert(numbers[0] != numbers[1]);
    unlink(in_folder("counter"));
    rmdir(folder);
    return 0;
}
