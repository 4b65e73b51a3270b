/* A connection is freed before it is taken out of the epoll set: the loop uses what its event points to.
 * Expected: use-after-free or crash. */
#include "threads.h"

#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct connection {
    int fd, served;
};

static int set;
static atomic_int is_stopped;

static void *loop(void *arg)
{
    struct epoll_event e;
    while (!is_stopped)
        if (epoll_wait(set, &e, 1, 10) == 1)
            ((struct connection *)e.data.ptr)->served++;
    return arg;
}

int main(void)
{
    struct connection *c = malloc(sizeof *c);
    struct epoll_event e = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = c};
    uint64_t one = 1;
    *c = (struct connection){eventfd(0, EFD_CLOEXEC), 0};
    set = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(set, EPOLL_CTL_ADD, c->fd, &e);
    pthread_t t = start(loop, 0);
    if (write(c->fd, &one, sizeof one) != sizeof one)
        return 2;
    for (int i = 0; i < 40; i++)
        own_work();
#ifdef FIXED
    is_stopped = 1;
    finish(t);
    close(c->fd);
    free(c);
#else
    close(c->fd);
    free(c);
    is_stopped = 1;
    finish(t);
#endif
    return 0;
}
