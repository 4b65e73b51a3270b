#include "prove/native_run.h"

#include "event/thread_count.h"
#include "host/idle.h"
#include "host/library_path.h"
#include "host/live_places.h"
#include "host/private_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OUTPUT_KEPT = 1 << 20, OUTPUT_MOST = 256 << 20, SHORTEST_NAP = 50000, LONGEST_NAP = 4000000 };

struct native {
    int output, errors, counting; /* files in memory */
    struct dh_thread_count *count;
};

void dh_output_read(int file, struct dh_str *out)
{
    char buffer[4096];
    ssize_t n;
    off_t at = 0;
    dh_str_add(out, "");
    while (out->n < OUTPUT_KEPT && (n = pread(file, buffer, sizeof buffer, at)) > 0) {
        dh_str_add_n(out, buffer, (size_t)n);
        at += n;
    }
}

static bool open_native(struct native *n, struct dh_err *err)
{
    n->output = memfd_create("output", MFD_CLOEXEC);
    n->errors = memfd_create("errors", MFD_CLOEXEC);
    n->counting = memfd_create("threads", MFD_CLOEXEC);
    n->count = MAP_FAILED;
    if (n->output >= 0 && n->errors >= 0 && n->counting >= 0 && ftruncate(n->counting, sizeof *n->count) == 0)
        n->count = mmap(NULL, sizeof *n->count, PROT_READ | PROT_WRITE, MAP_SHARED, n->counting, 0);
    return n->count != MAP_FAILED || dh_err_errno(err, "no memory for a run of the program");
}

static void close_native(struct native *n)
{
    if (n->count != MAP_FAILED)
        munmap(n->count, sizeof *n->count);
    close(n->output);
    close(n->errors);
    close(n->counting);
}

/* ---- in the child ---- */

/* As it was before the variant was looked for (launch/launch.c). */
static void forget_variant(void)
{
    dh_library_path_restore();
    unsetenv("DEADHEAT_PROGRAM");
    unsetenv("DEADHEAT_VARIANT");
    unsetenv("DEADHEAT_TOOL");
}

static _Noreturn void be_program(const struct dh_subject *s, struct native *n, bool random, pid_t tool)
{
    int input = open(s->start.input ? s->start.input : "/dev/null", O_RDONLY | O_CLOEXEC);
    n->count->process = (uint32_t)getpid();
    if (!random)
        personality(ADDR_NO_RANDOMIZE | (unsigned)personality(0xffffffff));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(input, 0);
    dup2(n->output, 1);
    dup2(n->errors, 2);
    forget_variant();
    char *count = dh_file_for_program(n->counting, tool, dh_private_files(s->start.argv, NULL));
    setenv("DEADHEAT_OPTIONS", dh_format("detect=none:print=0:thread_count='%s'", count), 1);
    for (char **e = s->start.environment; e && *e; e++)
        putenv(*e);
    execv(s->program, s->start.argv);
    _exit(127);
}

/* ---- watching ---- */

#define LOOK_EVERY 250000000ull
#define STUCK_NS 3000000000ull

struct stillness {
    struct dh_idle idle;
    uint64_t looked_ns, since_ns; /* when it last did something, or waited for more than itself */
};

static bool writes_too_much(const struct native *n)
{
    struct stat a, b;
    return fstat(n->output, &a) == 0 && fstat(n->errors, &b) == 0 && a.st_size + b.st_size > OUTPUT_MOST;
}

/* One that is traced also stops. */
static bool has_ended(pid_t pid, int *status)
{
    pid_t changed = waitpid(pid, status, WNOHANG);
    return changed < 0 || (changed == pid && !WIFSTOPPED(*status));
}

/* True: it does nothing, and waits for nothing but itself. */
static bool is_stuck(struct stillness *s)
{
    uint64_t now = dh_now_ns();
    if (now - s->looked_ns < LOOK_EVERY)
        return false;
    s->looked_ns = now;
    if (!dh_idle_look(&s->idle, getpid(), now) || dh_idle_waiting(getpid()) != DH_WAITING_FOR_EACH_OTHER)
        s->since_ns = now;
    return now - s->since_ns >= STUCK_NS;
}

static void end_early(pid_t pid, struct dh_native_run *out)
{
    out->in_time = false;
    dh_str_add(&out->where, "");
    dh_live_places(getpid(), &out->where);
    kill(pid, SIGKILL);
    while ((waitpid(pid, &out->status, 0) < 0 && errno == EINTR) || WIFSTOPPED(out->status))
        ;
}

static void watch(const struct native *n, pid_t pid, uint64_t patience_ns, struct dh_native_run *out)
{
    uint64_t began = dh_now_ns();
    struct stillness still = {.looked_ns = began, .since_ns = began};
    out->in_time = true;
    for (long nap = SHORTEST_NAP; !has_ended(pid, &out->status); nap = nap * 2 < LONGEST_NAP ? nap * 2 : LONGEST_NAP) {
        out->hangs = is_stuck(&still);
        if (out->hangs || dh_now_ns() - began > patience_ns || writes_too_much(n)) {
            end_early(pid, out);
            break;
        }
        nanosleep(&(struct timespec){0, nap}, NULL);
    }
    out->ns = dh_now_ns() - began;
    kill(-pid, SIGKILL); /* what it started and left */
}

bool dh_native_run(const struct dh_subject *s, uint64_t patience_ns, bool random, struct dh_native_run *out,
                   struct dh_err *err)
{
    struct native n = {0};
    *out = (struct dh_native_run){0};
    if (!open_native(&n, err)) {
        close_native(&n);
        return false;
    }
    int adopts = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &adopts);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what leaves the program may still end a wait of it */
    pid_t tool = getpid(), pid = fork();
    if (pid == 0)
        be_program(s, &n, random, tool);
    if (pid > 0) {
        setpgid(pid, pid);
        watch(&n, pid, patience_ns, out);
        out->is_counted = n.count->loaded;
        out->threads = n.count->threads;
        out->others = n.count->others;
        dh_output_read(n.output, &out->output);
        dh_output_read(n.errors, &out->errors);
    } else
        dh_err_errno(err, "cannot start %s", s->program);
    prctl(PR_SET_CHILD_SUBREAPER, adopts);
    close_native(&n);
    return pid > 0;
}

void dh_native_run_release(struct dh_native_run *r)
{
    dh_str_release(&r->output);
    dh_str_release(&r->errors);
    dh_str_release(&r->where);
    *r = (struct dh_native_run){0};
}
