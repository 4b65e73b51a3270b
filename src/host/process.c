#include "host/process.h"

#include "base/alloc.h"
#include "base/vec.h"
#include "host/deadline.h"
#include "host/libtool_wrapper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void dh_argv_add(struct dh_argv *a, const char *word)
{
    if (a->n + 2 > a->cap) {
        a->cap = a->cap ? a->cap * 2 : 32;
        DH_GROW_ARRAY(a->at, (size_t)a->cap);
    }
    a->at[a->n++] = dh_strdup(word);
    a->at[a->n] = NULL;
}

void dh_argv_addf(struct dh_argv *a, const char *fmt, ...)
{
    struct dh_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    dh_str_vaddf(&s, fmt, ap);
    va_end(ap);
    dh_argv_add(a, s.at);
    dh_str_release(&s);
}

void dh_argv_add_all(struct dh_argv *a, char *const *words, int n)
{
    for (int i = 0; i < n; i++)
        dh_argv_add(a, words[i]);
}

void dh_argv_release(struct dh_argv *a)
{
    for (int i = 0; i < a->n; i++)
        free(a->at[i]);
    free(a->at);
    *a = (struct dh_argv){0};
}

static bool is_program(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0 || access(path, X_OK) != 0)
        return false;
    errno = S_ISDIR(s.st_mode) ? EISDIR : 0;
    return !S_ISDIR(s.st_mode);
}

static char *program_at(const char *path)
{
    char *behind = is_program(path) ? dh_libtool_program(path) : NULL;
    return behind ? behind : is_program(path) ? dh_strdup(path) : NULL;
}

char *dh_program_find(const char *name)
{
    if (strchr(name, '/'))
        return program_at(name);
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
        size_t n = strcspn(at, ":");
        char *full = dh_format("%.*s/%s", (int)n, at, name);
        if (n && is_program(full))
            return full;
        free(full);
        at += n + (at[n] == ':');
    }
    return NULL;
}

static pid_t spawn(const struct dh_argv *a, int out_fd, struct dh_err *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    if (out_fd >= 0)
        posix_spawn_file_actions_adddup2(&actions, out_fd, 1);
    pid_t pid;
    int failed = posix_spawnp(&pid, a->at[0], &actions, NULL, a->at, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!failed)
        return pid;
    errno = failed;
    dh_err_errno(err, "cannot start %s", a->at[0]);
    return -1;
}

/* Until its end, or until time is over. */
static void drain(int fd, struct dh_str *out)
{
    enum { MOST_MS = 1 << 30 };
    char buffer[1 << 14];
    for (;;) {
        uint64_t left = dh_deadline_left();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, left / 1000000u < MOST_MS ? (int)(left / 1000000u) + 1 : -1);
        if (ready == 0)
            return;
        ssize_t n = ready > 0 ? read(fd, buffer, sizeof buffer) : -1;
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
        if (n > 0)
            dh_str_add_n(out, buffer, (size_t)n);
    }
}

bool dh_process_run(const struct dh_argv *a, struct dh_str *out, int *status, struct dh_err *err)
{
    int ends[2] = {-1, -1};
    if (out && pipe2(ends, O_CLOEXEC) != 0)
        return dh_err_errno(err, "cannot make a pipe");
    pid_t pid = spawn(a, ends[1], err);
    if (out)
        close(ends[1]);
    if (pid > 0 && out)
        drain(ends[0], out);
    if (out)
        close(ends[0]);
    return pid > 0 && (dh_wait_or_end(pid, UINT64_MAX, status) || dh_err_late(err, dh_basename(a->at[0])));
}

int dh_status_code(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

char *dh_status_text(int status)
{
    if (WIFEXITED(status))
        return dh_format("exit code %d", WEXITSTATUS(status));
    if (WIFSTOPPED(status)) /* of a process that wants to be traced by us */
        return dh_format("a stop by signal %d (%s)", WSTOPSIG(status), strsignal(WSTOPSIG(status)));
    return dh_format("signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* Exit codes of a child. */
enum { FAILED = 3, LATE = 4 };

static _Noreturn void child_main(int fd, bool (*fn)(void *, struct dh_err *), void *arg)
{
    struct dh_err err = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* our result has no reader then */
    bool ok = fn(arg, &err);
    fflush(NULL);
    const char *text = err.text ? err.text : "failed without a reason";
    if (!ok)
        (void)!write(fd, text, strlen(text));
    _exit(ok ? 0 : err.is_late ? LATE : FAILED);
}

bool dh_child_start(struct dh_child *c, const char *what, bool (*fn)(void *, struct dh_err *), void *arg,
                    struct dh_err *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return dh_err_errno(err, "cannot make a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        child_main(ends[1], fn, arg);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return dh_err_errno(err, "cannot fork");
    }
    *c = (struct dh_child){.pid = pid, .pipe = ends[0], .what = what};
    return true;
}

bool dh_child_finish(struct dh_child *c, struct dh_err *err)
{
    struct dh_str text = {0};
    drain(c->pipe, &text);
    close(c->pipe);
    int status = 0;
    bool in_time = dh_wait_or_end(c->pid, UINT64_MAX, &status);
    bool ok = in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!in_time)
        dh_err_late(err, c->what);
    else if (!ok && text.n) {
        dh_err_set(err, "%s", text.at);
        err->is_late = WIFEXITED(status) && WEXITSTATUS(status) == LATE;
    } else if (!ok) {
        char *words = dh_status_text(status);
        dh_err_set(err, "%s ended with %s; its input may be damaged", c->what, words);
        free(words);
    }
    dh_str_release(&text);
    return ok;
}

bool dh_child_run(const char *what, bool (*fn)(void *, struct dh_err *), void *arg, struct dh_err *err)
{
    struct dh_child c;
    if (getenv("DEADHEAT_ONE_PROCESS"))
        return fn(arg, err);
    return dh_child_start(&c, what, fn, arg, err) && dh_child_finish(&c, err);
}

void *dh_shared_alloc(size_t n, struct dh_err *err)
{
    void *memory = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    dh_err_errno(err, "cannot share memory");
    return NULL;
}

void dh_shared_free(void *memory, size_t n)
{
    munmap(memory, n);
}
