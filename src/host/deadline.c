#include "host/deadline.h"

#include "host/offspring.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t ends_ns; /* 0: never */

uint64_t dh_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void dh_deadline_narrow(uint64_t at_ns)
{
    if (!ends_ns || at_ns < ends_ns)
        ends_ns = at_ns ? at_ns : 1;
}

uint64_t dh_deadline_left(void)
{
    uint64_t now = dh_now_ns();
    return !ends_ns ? UINT64_MAX : ends_ns > now ? ends_ns - now : 0;
}

bool dh_deadline_over(void)
{
    return !dh_deadline_left();
}

uint64_t dh_deadline_limit(uint64_t patience_ns)
{
    uint64_t left = dh_deadline_left();
    return patience_ns < left ? patience_ns : left;
}

/* ---- ending what does not end ---- */

void dh_kill_offspring(pid_t of)
{
    dh_pids all = {0};
    dh_offspring(of, &all);
    for (size_t i = 1; i < all.n; i++)
        kill(all.at[i], SIGKILL);
    dh_vec_release(&all);
}

/* ---- waiting ---- */

/* False: time was over first. Without pidfd_open (an old kernel) it is asked again and again. */
static bool has_ended_within(pid_t pid, uint64_t patience_ns)
{
    enum { AGAIN_MS = 5, MOST_MS = 1 << 30 };
    uint64_t now = dh_now_ns(), until = patience_ns < UINT64_MAX - now ? now + patience_ns : UINT64_MAX;
    int fd = pidfd_open(pid, 0);
    bool ended = false;
    for (;;) {
        siginfo_t info = {0};
        ended = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
        now = dh_now_ns();
        if (ended || now >= until)
            break;
        uint64_t ms = (until - now) / 1000000u + 1;
        struct pollfd p = {.fd = fd, .events = POLLIN};
        poll(&p, 1, fd < 0 ? AGAIN_MS : ms < MOST_MS ? (int)ms : MOST_MS);
    }
    if (fd >= 0)
        close(fd);
    return ended;
}

bool dh_wait_or_end(pid_t pid, uint64_t patience_ns, int *status)
{
    bool ended = has_ended_within(pid, dh_deadline_limit(patience_ns));
    if (!ended) {
        dh_kill_offspring(pid);
        kill(pid, SIGKILL);
    }
    *status = 1 << 8; /* of a process that nobody can wait for: our user ignores SIGCHLD */
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    return ended;
}
