/* One thread closes the log's descriptor, another opens a file and gets its number: the log line goes into the file.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int log_fd;
static int data[2];
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static void *logger(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int fd = log_fd;
    if (fd >= 0)
        (void)!write(fd, "L", 1);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return arg;
}

static void *rotator(void *arg)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    int fd = log_fd;
    close(fd);
    log_fd = -1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(dup2(data[1], fd) == fd);
    return arg;
}

int main(void)
{
    int logs[2];
    char text[4];
    assert(pipe(logs) == 0 && pipe(data) == 0);
    log_fd = logs[1];
    RUN(logger, rotator);
    assert(write(data[1], "D", 1) == 1);
    assert(read(data[0], text, sizeof text) == 1);
    return 0;
}
