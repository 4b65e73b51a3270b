/* The set is edge-triggered and the loop reads one byte for each event: the second byte is never told of.
 * Expected: deadlock or lost-wakeup. */
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

static int set, ends[2];

static void *loop(void *arg)
{
    struct epoll_event e;
    char byte;
    for (int got = 0; got < 2;) {
        if (epoll_wait(set, &e, 1, -1) != 1)
            continue;
#ifdef FIXED
        while (read(ends[0], &byte, 1) == 1)
            got++;
#else
        if (read(ends[0], &byte, 1) == 1)
            got++;
#endif
    }
    return arg;
}

static void *writer(void *arg)
{
    for (int i = 0; i < 2; i++) {
        if (write(ends[1], "x", 1) != 1)
            abort();
        for (int k = 0; k < 40; k++)
            own_work();
    }
    return arg;
}

int main(void)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLET};
    set = epoll_create1(EPOLL_CLOEXEC);
    if (pipe2(ends, O_NONBLOCK) || epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &e))
        return 2;
    RUN(loop, writer);
    return 0;
}
