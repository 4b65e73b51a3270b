#include <arpa/inet.h>
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>
/* Every kind of descriptor is made, and filled, before the thread that finds it as it was. */
static int l, c, s, sp[2], pp[2], e, e2, t, ep, pend;
static void *worker(void *a)
{
    char b[64] = {0};
    uint64_t v;
    struct epoll_event ev[8];
    assert(read(s, b, 5) == 5 && !memcmp(b, "hello", 5));
    assert(write(s, "world", 5) == 5);
    assert(recv(sp[0], b, 64, MSG_PEEK) == 3 && recv(sp[0], b, 64, 0) == 3);
    int n;
    assert(ioctl(pp[0], FIONREAD, &n) == 0 && n == 4);
    assert(read(pp[0], b, 64) == 4 && !memcmp(b, "pipe", 4));
    assert(read(e2, &v, 8) == 8 && v == 7);
    assert(epoll_wait(ep, ev, 8, -1) >= 1);
    assert(read(t, &v, 8) == 8 && v >= 1);
    int p = accept(l, NULL, NULL);
    assert(p >= 0);
    struct sockaddr_in x;
    socklen_t z = sizeof x;
    assert(getpeername(p, (void *)&x, &z) == 0 && x.sin_family == AF_INET);
    close(p);
    int k = dup(s);
    assert(k >= 0);
    close(s);
    assert(write(k, "!", 1) == 1);
    close(k);
    struct pollfd pf = {0, POLLIN, 0};
    assert(poll(&pf, 1, -1) == 1);
    n = (int)read(0, b, 64);
    if (n > 0)
        assert(!memcmp(b, "input", 5));
    assert(read(0, b, 64) == 0);
    fd_set r;
    FD_ZERO(&r);
    FD_SET(sp[0], &r);
    struct timeval tv = {0, 1000};
    assert(select(sp[0] + 1, &r, NULL, NULL, &tv) == 0 && !FD_ISSET(sp[0], &r));
    return a;
}
int main(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t z = sizeof at;
    l = socket(AF_INET, SOCK_STREAM, 0);
    bind(l, (void *)&at, sizeof at);
    listen(l, 5);
    getsockname(l, (void *)&at, &z);
    c = socket(AF_INET, SOCK_STREAM, 0);
    assert(!connect(c, (void *)&at, z));
    s = accept(l, 0, 0);
    assert(write(c, "hello", 5) == 5);
    pend = socket(AF_INET, SOCK_STREAM, 0);
    assert(!connect(pend, (void *)&at, z));
    socketpair(AF_UNIX, SOCK_STREAM, 0, sp);
    assert(write(sp[1], "abc", 3) == 3);
    assert(!pipe(pp) && write(pp[1], "pipe", 4) == 4);
    e = eventfd(7, 0);
    e2 = dup(e);
    t = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec i = {{0}, {1, 0}};
    timerfd_settime(t, 0, &i, 0);
    ep = epoll_create1(0);
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = 5};
    epoll_ctl(ep, EPOLL_CTL_ADD, t, &ev);
    pthread_t w;
    pthread_create(&w, 0, worker, 0);
    char b[8];
    assert(read(c, b, 5) == 5);
    assert(read(c, b, 1) == 1 && *b == '!');
    assert(read(c, b, 1) == 0);
    pthread_join(w, 0);
    puts("ok");
    return 0;
}
