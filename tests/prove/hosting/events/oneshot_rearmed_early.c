/* A worker of an EPOLLONESHOT set arms the connection again before it is done with it: two serve it at once.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static int set, ends[2];
static atomic_int serving, served;

static void arm(int how)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT};
    if (epoll_ctl(set, how, ends[0], &e))
        abort();
}

static void *worker(void *arg)
{
    struct epoll_event e;
    char c;
    while (served < 2) {
        if (epoll_wait(set, &e, 1, 50) != 1)
            continue;
#ifndef FIXED
        arm(EPOLL_CTL_MOD);
#endif
        assert(++serving == 1);
        if (read(ends[0], &c, 1) == 1)
            served++;
        serving--;
#ifdef FIXED
        arm(EPOLL_CTL_MOD);
#endif
    }
    return arg;
}

static void *client(void *arg)
{
    if (write(ends[1], "a", 1) != 1 || write(ends[1], "b", 1) != 1)
        abort();
    return arg;
}

int main(void)
{
    set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
        return 2;
    arm(EPOLL_CTL_ADD);
    RUN(worker, worker, client);
    close(set);
    return 0;
}
