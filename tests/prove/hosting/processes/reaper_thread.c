/* A thread waits for SIGCHLD with sigwait and reaps; a thread that starts a worker waits for it itself, and one of them
 * comes too late. Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static sigset_t chld;

static void *reaper(void *arg)
{
    int which;
    sigwait(&chld, &which);
#ifndef FIXED
    while (waitpid(-1, NULL, WNOHANG) > 0) { /* whoever it was */
    }
#endif
    return arg;
}

static void *starter(void *arg)
{
    int status = 0;
    pid_t worker = fork();
    if (worker == 0)
        _exit(3);
    pid_t pid = waitpid(worker, &status, 0);
    assert(pid == worker && WEXITSTATUS(status) == 3);
    return arg;
}

int main(void)
{
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &chld, NULL);
    RUN(reaper, starter);
    return 0;
}
