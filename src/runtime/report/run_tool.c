/* Runs the tool without the program noticing. A process that called execve sends SIGCHLD to its parent at its end,
 * whatever exit signal clone got; so the helper that is waited for executes nothing: it shares the memory (no copy, no
 * atfork), starts the tool as its own child, waits for it and ends. It has no exit signal: the program's wait() and
 * SIGCHLD do not see it. The calling thread sleeps meanwhile (CLONE_VFORK), all signals are blocked, descriptors are
 * opened in the tool's table only. */
#include "event/suppression.h"
#include "runtime/core/options.h"
#include "runtime/core/start.h"
#include "runtime/platform/alloc.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/outputs.h"
#include "runtime/report/report.h"
#include "runtime/report/suppressions.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>

#define STACK (16 << 10)
#define PATIENCE_MS 10000
#define FAILED 127
#define PASSED_ON 8
#define PRINTED_MAX 1024u
#define ANSWER_FD 3 /* where the tool writes the finding's id */

struct job {
    const char *tool;
    const struct dh_report_bytes *bytes;
    char *argv[6];
    int answer[2];     /* pipe for the id */
    uint64_t id;       /* fingerprint, 0 = not known */
    int status;        /* of the tool, from wait4 */
    bool may_suppress; /* the exit code may name a suppression */
    bool unseen;       /* there is no descriptor to print to */
};

static struct {
    const char *tool, *path; /* DEADHEAT_TOOL, PATH at the start */
    char *environment[PASSED_ON + 1];
    bool forbidden;
} outside;

/* Printed findings by fingerprint; beyond the last they are printed each time. A forked child inherits its parent's. */
static struct {
    uint64_t id[PRINTED_MAX];
    int pid[PRINTED_MAX]; /* that reported it last */
    uint32_t n;
    uint8_t bytes[DH_LOG_RECORD_SIZE + PRINTED_MAX * sizeof(uint64_t)];
} printed;

static bool sandboxed;
static uint8_t stacks[2][STACK] __attribute__((aligned(16)));

/* `fn` must end the process. Its stack is empty, so it returns nowhere. */
static long clone_onto(uint8_t *stack, unsigned long flags, void (*fn)(struct job *), struct job *job)
{
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    register void (*r12)(struct job *) __asm__("r12") = fn;
    register struct job *r13 __asm__("r13") = job;
    long result;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "mov %%r13, %%rdi\n\t"
                     "call *%%r12\n\t"
                     "hlt\n"
                     "1:"
                     : "=a"(result)
                     : "0"(SYS_clone), "D"(flags), "S"(stack + STACK), "d"(0), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
                     : "rcx", "r11", "memory");
    return result;
}

static bool write_input(int fd, const struct dh_report_bytes *b)
{
    struct dh_log_out o = {printed.bytes, 0, sizeof printed.bytes, false};
    dh_log_put_reported(&o, printed.id, printed.n);
    return dh_report_write_all(fd, b->at, b->n) == 0 && dh_report_write_all(fd, printed.bytes, o.n) == 0;
}

/* A memfd, or else a pipe that must hold everything at once. */
static int input_of(const struct dh_report_bytes *b)
{
    int fd = (int)dh_syscall3(SYS_memfd_create, (long)"finding", 0, 0), ends[2];
    if (fd >= 0) {
        bool ok = write_input(fd, b) && dh_syscall3(SYS_lseek, fd, 0, 0) == 0;
        return ok ? fd : -1;
    }
    if (dh_syscall3(SYS_pipe2, (long)ends, O_NONBLOCK, 0) != 0)
        return -1;
    bool ok = write_input(ends[1], b);
    dh_sys_close(ends[1]);
    dh_syscall3(SYS_fcntl, ends[0], F_SETFL, 0);
    return ok ? ends[0] : -1;
}

static void close_from(int first)
{
    if (dh_syscall3(SYS_close_range, first, (long)UINT_MAX, 0) == 0)
        return;
    for (int fd = first; fd < 1024; fd++)
        dh_sys_close(fd);
}

/* The tool's process, until execve; it still shares the memory. */
__attribute__((noreturn)) static void become_tool(struct job *job)
{
    int out = dh_print_open();
    job->unseen = out < 0 || dh_syscall3(SYS_fcntl, out, F_GETFD, 0) < 0;
    if (job->unseen && !job->may_suppress)
        dh_sys_exit_group(FAILED);
    if (out != 1 && !job->unseen)
        dh_syscall3(SYS_dup2, out, 1, 0);
    dh_syscall3(SYS_dup2, 1, 2, 0);
    if (job->answer[1] >= 0)
        dh_syscall3(SYS_dup2, job->answer[1], ANSWER_FD, 0);
    close_from(job->answer[1] >= 0 ? ANSWER_FD + 1 : ANSWER_FD);
    int in = input_of(job->bytes);
    if (in < 0)
        dh_sys_exit_group(FAILED);
    if (in != 0) {
        dh_syscall3(SYS_dup2, in, 0, 0);
        dh_sys_close(in);
    }
    dh_sys_execve(job->tool, job->argv, outside.environment);
    dh_sys_exit_group(FAILED);
}

static long wait_for(int pid, int *status, int options)
{
    long got;
    do
        got = dh_syscall6(SYS_wait4, pid, (long)status, options, 0, 0, 0);
    while (got == -EINTR);
    return got;
}

/* If the program ignores SIGCHLD, the kernel would reap the tool. The helper's own table of handlers, not the
 * program's. */
static void reset_sigchld(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } fallback = {0};
    dh_syscall6(SYS_rt_sigaction, SIGCHLD, (long)&fallback, 0, sizeof fallback.mask, 0, 0);
}

/* Above 0 to 3, which the program may have closed. */
static void open_answer(struct job *job)
{
    int low[2] = {-1, -1};
    dh_syscall3(SYS_pipe2, (long)low, O_NONBLOCK, 0);
    for (int i = 0; i < 2; i++) {
        job->answer[i] = (int)dh_syscall3(SYS_fcntl, low[i], F_DUPFD, 2 * ANSWER_FD);
        dh_sys_close(low[i]);
    }
}

/* Eight bytes: after the tool's end they are in the pipe or never will be. */
static void read_id(struct job *job)
{
    uint64_t id;
    if (job->answer[0] < 0)
        return;
    dh_sys_close(job->answer[1]);
    if (dh_syscall3(SYS_read, job->answer[0], (long)&id, sizeof id) == (long)sizeof id)
        job->id = id;
}

__attribute__((noreturn)) static void supervise_tool(struct job *job)
{
    struct timespec step = {.tv_nsec = 1000000};
    reset_sigchld();
    open_answer(job);
    long pid = clone_onto(stacks[1], CLONE_VM | CLONE_VFORK | SIGCHLD, become_tool, job), got = 0;
    if (pid < 0)
        dh_sys_exit_group(FAILED);
    for (int ms = 0; ms < PATIENCE_MS && !got; ms++) {
        got = wait_for((int)pid, &job->status, WNOHANG | __WALL);
        if (!got)
            dh_syscall3(SYS_nanosleep, (long)&step, 0, 0);
    }
    if (!got) {
        dh_syscall3(SYS_kill, pid, SIGKILL, 0);
        wait_for((int)pid, &job->status, __WALL);
    }
    read_id(job);
    dh_sys_exit_group(0);
}

/* PATH as it was when the program started. */
static bool find_on_path(char *out, size_t n)
{
    static const char name[] = "/deadheat";
    for (const char *at = outside.path; at && *at;) {
        size_t length = 0;
        while (at[length] && at[length] != ':')
            length++;
        if (length && *at == '/' && length + sizeof name <= n) {
            dh_bytes_copy(out, at, length);
            dh_bytes_copy(out + length, name, sizeof name);
            if (dh_syscall3(SYS_access, (long)out, 1, 0) == 0)
                return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

/* Path of the tool, from the environment, the link or PATH, or NULL. */
static const char *tool_path(void)
{
    static char found[PATH_MAX];
    const char *const known[] = {outside.tool, __dh_tool};
    if (outside.forbidden || dh_report_is_sandboxed())
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] && *known[i] && dh_syscall3(SYS_access, (long)known[i], 1, 0) == 0)
            return known[i];
    return find_on_path(found, sizeof found) ? found : NULL;
}

static void set_arguments(struct job *job)
{
    static char file[PATH_MAX + 32];
    const char *suppressions = dh_suppressions_path();
    unsigned n = 0;
    job->argv[n++] = (char *)"deadheat";
    job->argv[n++] = (char *)"print-finding";
    job->argv[n++] = (char *)"--answer";
    if (suppressions) {
        dh_text_copy(file, sizeof file, "--suppressions=");
        dh_text_copy(file + sizeof "--suppressions=" - 1, PATH_MAX, suppressions);
        job->argv[n++] = file;
        job->may_suppress = true;
    }
    if (!dh_options.print)
        job->argv[n++] = (char *)"--quiet";
}

/* Printed by this process; what its parent printed counts as new once. */
static bool was_printed(uint64_t id)
{
    uint32_t i = 0;
    while (i < printed.n && printed.id[i] != id)
        i++;
    if (!id || i == PRINTED_MAX)
        return false;
    bool before = i < printed.n && printed.pid[i] == dh_process.pid;
    printed.id[i] = id;
    printed.pid[i] = dh_process.pid;
    printed.n += i == printed.n;
    return before;
}

static enum dh_report_answer answer_of(const struct job *job)
{
    unsigned code = (unsigned)WEXITSTATUS(job->status);
    if (job->may_suppress && WIFEXITED(job->status) && code >= DH_SUPPRESSED_FROM) {
        dh_suppressions_count(code - DH_SUPPRESSED_FROM);
        return DH_REPORT_SUPPRESSED;
    }
    if (!job->unseen && job->status != 0)
        return DH_REPORT_FAILED;
    return was_printed(job->id) ? DH_REPORT_PRINTED_BEFORE : DH_REPORT_PRINTED;
}

enum dh_report_answer dh_report_run_tool(const struct dh_report_bytes *b)
{
    struct job job = {.tool = tool_path(), .bytes = b, .status = FAILED << 8};
    if (!job.tool)
        return DH_REPORT_FAILED;
    set_arguments(&job);
    long pid = clone_onto(stacks[0], CLONE_VM | CLONE_VFORK, supervise_tool, &job);
    int ignored;
    if (pid < 0)
        return DH_REPORT_FAILED;
    wait_for((int)pid, &ignored, __WCLONE);
    return answer_of(&job);
}

void dh_report_set_sandboxed(bool is_sandboxed)
{
    if (is_sandboxed)
        dh_report_log_keep_open();
    __atomic_store_n(&sandboxed, is_sandboxed, __ATOMIC_RELEASE);
}

bool dh_report_is_sandboxed(void)
{
    return __atomic_load_n(&sandboxed, __ATOMIC_ACQUIRE);
}

static void pass_on(char *variable, size_t *n)
{
    static const char *const names[PASSED_ON] = {
        "PATH=", "HOME=", "LC_ALL=", "LANG=", "TERM=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "TMPDIR="};
    for (size_t i = 0; i < PASSED_ON; i++)
        if (dh_text_after(variable, names[i]) && *n < PASSED_ON)
            outside.environment[(*n)++] = (char *)dh_alloc_text(variable);
}

/* Copies: programs overwrite the environment, also where the kernel laid it. Nothing of it is trusted in a setuid
 * program. */
static void read_environment(int argc, char **argv, char **envp)
{
    size_t n = 0;
    (void)argc, (void)argv;
    outside.forbidden = getauxval(AT_SECURE);
    for (; !outside.forbidden && envp && *envp; envp++) {
        const char *tool = dh_text_after(*envp, "DEADHEAT_TOOL="), *path = dh_text_after(*envp, "PATH=");
        if (tool)
            outside.tool = dh_alloc_text(tool);
        if (path)
            outside.path = dh_alloc_text(path);
        pass_on(*envp, &n);
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = read_environment;
