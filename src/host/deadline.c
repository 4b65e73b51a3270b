#include "host/deadline.h"

#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

struct relative {
    pid_t pid, parent;
};

static bool read_relative(const char *name, struct relative *r)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[n] = 0;
    const char *rest = strrchr(text, ')'); /* the name of a program may hold anything */
    int parent;
    if (!rest || sscanf(rest + 1, " %*c %d", &parent) != 1)
        return false;
    *r = (struct relative){(pid_t)atoi(name), parent};
    return true;
}

void dh_kill_offspring(pid_t of)
{
    DH_VEC(struct relative) all = {0};
    DH_VEC(pid_t) marked = {0};
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));) {
        struct relative r;
        if (isdigit((unsigned char)e->d_name[0]) && read_relative(e->d_name, &r))
            dh_vec_push(&all, r);
    }
    if (d)
        closedir(d);
    dh_vec_push(&marked, of);
    for (size_t i = 0; i < marked.n; i++)
        for (size_t k = 0; k < all.n; k++)
            if (all.at[k].parent == marked.at[i])
                dh_vec_push(&marked, all.at[k].pid);
    for (size_t i = 1; i < marked.n; i++)
        kill(marked.at[i], SIGKILL);
    dh_vec_release(&all);
    dh_vec_release(&marked);
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
