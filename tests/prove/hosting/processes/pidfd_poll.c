/* A loop watches a worker through a pidfd; a worker that is told to stop before its entry is complete is not counted.
 * Expected: assertion. Also: race on `running`. */
#define _GNU_SOURCE
#include "threads.h"

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(int n)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    running += n;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *watcher(void *arg)
{
    pid_t worker = fork();
    if (worker == 0)
        for (;;)
            pause();
    add(1);
    int fd = (int)syscall(SYS_pidfd_open, worker, 0);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    siginfo_t info = {0};
    syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0);
    poll(&p, 1, -1);
    waitid((idtype_t)3 /* P_PIDFD */, (id_t)fd, &info, WEXITED);
    assert(info.si_pid == worker && info.si_status == SIGTERM);
    add(-1);
    close(fd);
    return arg;
}

int main(void)
{
    (void)lock;
    RUN(watcher, watcher);
    assert(running == 0);
    return 0;
}
