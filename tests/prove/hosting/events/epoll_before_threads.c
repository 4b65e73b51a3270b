/* The event loop's epoll set and pipe are made before the threads; the worker answers through a plain variable.
 * Expected: race on `answer`. */
#include "threads.h"

#include <sys/epoll.h>
#include <unistd.h>

static int set, wake[2], answer;

static void *loop(void *arg)
{
    struct epoll_event e;
    char byte;
    if (epoll_wait(set, &e, 1, -1) != 1 || read(wake[0], &byte, 1) != 1)
        abort();
    answer++;
    return arg;
}

int main(void)
{
    struct epoll_event e = {.events = EPOLLIN};
    set = epoll_create1(EPOLL_CLOEXEC);
    if (pipe(wake) || epoll_ctl(set, EPOLL_CTL_ADD, wake[0], &e))
        return 2;
    pthread_t t = start(loop, 0);
#ifdef FIXED
    answer++;
    if (write(wake[1], "", 1) != 1)
        return 2;
#else
    if (write(wake[1], "", 1) != 1)
        return 2;
    for (int i = 0; i < 20; i++)
        own_work();
    answer++;
#endif
    finish(t);
    return answer == 3;
}
