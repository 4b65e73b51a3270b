#include "host/supervise.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static volatile sig_atomic_t child;

static void forward(int signal)
{
    if (child > 0)
        kill((pid_t)child, signal);
}

static void forward_signals(void)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
    struct sigaction a = {.sa_handler = forward, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        sigaction(passed[i], &a, NULL);
    a.sa_handler = SIG_IGN;
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGQUIT, &a, NULL);
}

/* As waitpid, with background work in between; sleeps longer the longer there is none. */
static pid_t wait_working(pid_t pid, const struct dh_background_work *meanwhile, int *status)
{
    enum { SHORTEST = 100000, LONGEST = 5000000 };
    if (!meanwhile)
        return waitpid(pid, status, 0);
    for (long nap = SHORTEST;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended)
            return ended;
        if (meanwhile->work(meanwhile->arg)) {
            nap = SHORTEST;
            continue;
        }
        nanosleep(&(struct timespec){0, nap}, NULL);
        nap = nap * 2 < LONGEST ? nap * 2 : LONGEST;
    }
}

bool dh_supervise(const char *path, char **argv, const struct dh_background_work *meanwhile, int *status,
                  struct dh_err *err)
{
    pid_t pid;
    /* Spawned before our handlers are set: the program inherits the signal dispositions of its user. */
    int failed = posix_spawn(&pid, path, NULL, NULL, argv, environ);
    if (failed) {
        errno = failed;
        return dh_err_errno(err, "cannot run %s", path);
    }
    child = pid;
    forward_signals();
    while (wait_working(pid, meanwhile, status) < 0)
        if (errno != EINTR)
            return dh_err_errno(err, "cannot wait for %s", path);
    child = 0;
    return true;
}

_Noreturn void dh_exit_like_child(int status)
{
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none); /* the program wrote its core already */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}
