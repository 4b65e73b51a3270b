/* A loop with a self-pipe handles what was posted and drains the pipe after that: a wake-up in between is lost.
 * Expected: deadlock. */
#define _GNU_SOURCE
#include "threads.h"

#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <unistd.h>

static int ends[2];
static atomic_int posted;

static void drain(void)
{
    char some[16];
    while (read(ends[0], some, sizeof some) > 0)
        ;
}

static void *loop(void *arg)
{
    for (int handled = 0; handled < 2;) {
        struct pollfd p = {ends[0], POLLIN, 0};
        if (poll(&p, 1, -1) != 1)
            abort();
#ifdef FIXED
        drain();
        handled += atomic_exchange(&posted, 0);
#else
        handled += atomic_exchange(&posted, 0);
        drain();
#endif
    }
    return arg;
}

static void *poster(void *arg)
{
    posted++;
    if (write(ends[1], "w", 1) != 1)
        abort();
    return arg;
}

int main(void)
{
    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
        return 2;
    RUN(poster, loop, poster);
    return 0;
}
