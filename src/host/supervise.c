#include "host/supervise.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
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

enum { NOT_EXECUTED = 127 };

/* 0 and errno on failure. */
static pid_t start(const char *path, char **argv, const struct dh_preparation *before)
{
    pid_t pid = 0;
    if (!before) {
        errno = posix_spawn(&pid, path, NULL, NULL, argv, environ);
        return errno ? 0 : pid;
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        before->prepare(before->arg);
        execv(path, argv);
        _exit(NOT_EXECUTED);
    }
    return pid > 0 ? pid : 0;
}

bool dh_supervise(const char *path, char **argv, const struct dh_preparation *before,
                  const struct dh_background_work *meanwhile, int *status, struct dh_err *err)
{
    /* Started before our handlers are set: the program inherits the signal dispositions of its user. */
    pid_t pid = start(path, argv, before);
    if (!pid)
        return dh_err_errno(err, "cannot run %s", path);
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
