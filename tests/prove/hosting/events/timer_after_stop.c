/* A periodic timer's thread reads the timer, and uses what stopping freed: the flag is looked at before the wait only.
 * Expected: use-after-free or crash. */
#include "threads.h"

#include <stdatomic.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int timer;
static atomic_int is_stopped;
static int *ticks;

static void *ticker(void *arg)
{
    uint64_t n;
    while (!is_stopped) {
        if (read(timer, &n, sizeof n) != sizeof n)
            abort();
#ifdef FIXED
        if (is_stopped)
            break;
#endif
        ++*ticks;
    }
    return arg;
}

int main(void)
{
    struct itimerspec every = {{0, 1000000}, {0, 1000000}};
    ticks = calloc(1, sizeof *ticks);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (timerfd_settime(timer, 0, &every, NULL))
        return 2;
    pthread_t t = start(ticker, 0);
#ifdef FIXED
    is_stopped = 1;
    finish(t);
    free(ticks);
#else
    is_stopped = 1;
    free(ticks);
    finish(t);
#endif
    return 0;
}
