/* A timer is cancelled and its state freed, although its expiry may already be on its way through the loop.
 * Expected: use-after-free or crash or race. */
#include "threads.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int fd;
static int *state;

static void *loop(void *arg)
{
    uint64_t n;
    if (read(fd, &n, sizeof n) == sizeof n)
        ++*state;
    return arg;
}

int main(void)
{
    struct itimerspec soon = {.it_value = {.tv_nsec = 20000000}}, off = {0};
    state = calloc(1, sizeof *state);
    fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    timerfd_settime(fd, 0, &soon, NULL);
    pthread_t t = start(loop, 0);
#ifdef FIXED
    (void)off;
    finish(t);
    free(state);
#else
    usleep(60000);
    timerfd_settime(fd, 0, &off, NULL);
    free(state);
    finish(t);
#endif
    close(fd);
    return 0;
}
