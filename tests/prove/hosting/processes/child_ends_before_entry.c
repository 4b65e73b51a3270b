/* The job table gets its entry after fork, and SIGCHLD may come before that: the job stays in the table as if it ran.
 * Expected: assertion. */
#include "threads.h"

#include <assert.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t job;
static volatile sig_atomic_t done;

static void child_ended(int number)
{
    (void)number;
    pid_t pid = waitpid(-1, NULL, WNOHANG);
    if (pid > 0 && pid == job)
        done = 1;
}

static void *idle(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    return arg;
}

int main(void)
{
    struct sigaction a = {.sa_handler = child_ended};
    sigset_t chld, before;
    sigaction(SIGCHLD, &a, NULL);
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    finish(start(idle, 0));
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &chld, &before);
#endif
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    job = pid;
#ifdef FIXED
    while (!done)
        sigsuspend(&before);
#else
    pthread_sigmask(SIG_BLOCK, &chld, &before);
    while (!done && kill(pid, 0) == 0)
        sigsuspend(&before);
#endif
    assert(done);
    return 0;
}
