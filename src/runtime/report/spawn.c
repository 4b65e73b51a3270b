/* Running the tool unseen by the program. A process that has executed something sends SIGCHLD to its parent at its end,
 * whatever clone was asked for; so the one we wait for executes nothing: it shares our memory (no copy, no atfork),
 * starts the tool as a child of its own, waits for it and ends. It has no exit signal: wait() and SIGCHLD of the
 * program do not see it. The calling thread sleeps meanwhile (CLONE_VFORK), every signal is blocked, descriptors are
 * opened in the tool's own table only. */
#include "event/suppression.h"
#include "runtime/core/alloc.h"
#include "runtime/core/bytes.h"
#include "runtime/core/options.h"
#include "runtime/core/print.h"
#include "runtime/core/raw_syscall.h"
#include "runtime/core/start.h"
#include "runtime/report/report.h"
#include "runtime/report/suppressions.h"
#include "runtime/report/ways.h"

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
#define TOLD_MOST 1024u
#define ANSWER_FD 3 /* where the tool writes the finding's id */

struct job {
    const char *tool;
    const struct dh_report_bytes *bytes;
    char *words[6];
    int answer[2]; /* pipe for the id */
    uint64_t id;   /* fingerprint, 0 = not known */
    int status;    /* of the tool, as wait4 tells it */
    bool asks;     /* what it prints does not matter */
    bool unseen;   /* nobody can read what would be printed */
};

static struct {
    const char *tool, *path; /* DEADHEAT_TOOL, PATH at the start */
    char *environment[PASSED_ON + 1];
    bool forbidden;
} outside;

/* What was told, by fingerprint; those behind the last are told as often as they come. A child that was forked knows
 * its parent's. */
static struct {
    uint64_t id[TOLD_MOST];
    int pid[TOLD_MOST]; /* that had it last */
    uint32_t n;
    uint8_t bytes[DH_LOG_RECORD_SIZE + TOLD_MOST * sizeof(uint64_t)];
} told;

static bool alone;
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

static bool write_all(int fd, const uint8_t *at, size_t n)
{
    size_t done = 0;
    while (done < n) {
        long k = dh_sys_write(fd, at + done, n - done);
        if (k <= 0 && k != -EINTR)
            return false;
        done += k > 0 ? (size_t)k : 0;
    }
    return true;
}

static bool write_input(int fd, const struct dh_report_bytes *b)
{
    struct dh_log_out o = {told.bytes, 0, sizeof told.bytes, false};
    dh_log_put_reported(&o, told.id, told.n);
    return write_all(fd, b->at, b->n) && write_all(fd, told.bytes, o.n);
}

/* A file in memory; where that is not to be had, a pipe that must take everything at once. */
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

/* The tool's process, up to its exec; memory is still ours. */
__attribute__((noreturn)) static void become_tool(struct job *job)
{
    int out = dh_print_open();
    job->unseen = out < 0 || dh_syscall3(SYS_fcntl, out, F_GETFD, 0) < 0;
    if (job->unseen && !job->asks)
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
    dh_sys_execve(job->tool, job->words, outside.environment);
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

/* What the program ignores would be reaped behind our back. Our own table of handlers, not the program's. */
static void mind_children(void)
{
    struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        uint64_t mask;
    } fallback = {0};
    dh_syscall6(SYS_rt_sigaction, SIGCHLD, (long)&fallback, 0, sizeof fallback.mask, 0, 0);
}

/* Out of the way of 0 to 3, which the program may have closed. */
static void open_answer(struct job *job)
{
    int low[2] = {-1, -1};
    dh_syscall3(SYS_pipe2, (long)low, O_NONBLOCK, 0);
    for (int i = 0; i < 2; i++) {
        job->answer[i] = (int)dh_syscall3(SYS_fcntl, low[i], F_DUPFD, 2 * ANSWER_FD);
        dh_sys_close(low[i]);
    }
}

/* Of eight bytes at most, so they are in the pipe or will never be. */
static void take_id(struct job *job)
{
    uint64_t id;
    if (job->answer[0] < 0)
        return;
    dh_sys_close(job->answer[1]);
    if (dh_syscall3(SYS_read, job->answer[0], (long)&id, sizeof id) == (long)sizeof id)
        job->id = id;
}

__attribute__((noreturn)) static void care_for_tool(struct job *job)
{
    struct timespec step = {.tv_nsec = 1000000};
    mind_children();
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
    take_id(job);
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

const char *dh_report_tool(void)
{
    static char found[PATH_MAX];
    const char *const known[] = {outside.tool, __dh_tool};
    if (outside.forbidden || dh_report_is_alone())
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i] && *known[i] && dh_syscall3(SYS_access, (long)known[i], 1, 0) == 0)
            return known[i];
    return find_on_path(found, sizeof found) ? found : NULL;
}

static void set_words(struct job *job)
{
    static char file[PATH_MAX + 32];
    const char *suppressions = dh_suppressions_path();
    unsigned n = 0;
    job->words[n++] = (char *)"deadheat";
    job->words[n++] = (char *)"print-finding";
    job->words[n++] = (char *)"--answer";
    if (suppressions) {
        dh_text_copy(file, sizeof file, "--suppressions=");
        dh_text_copy(file + sizeof "--suppressions=" - 1, PATH_MAX, suppressions);
        job->words[n++] = file;
        job->asks = true;
    }
    if (!dh_options.print)
        job->words[n++] = (char *)"--quiet";
}

/* By this process: what its parent told is the first of its own. */
static bool was_told(uint64_t id)
{
    uint32_t i = 0;
    while (i < told.n && told.id[i] != id)
        i++;
    if (!id || i == TOLD_MOST)
        return false;
    bool before = i < told.n && told.pid[i] == dh_process.pid;
    told.id[i] = id;
    told.pid[i] = dh_process.pid;
    told.n += i == told.n;
    return before;
}

static enum dh_report_answer answer_of(const struct job *job)
{
    unsigned code = (unsigned)WEXITSTATUS(job->status);
    if (job->asks && WIFEXITED(job->status) && code >= DH_SUPPRESSED_FROM) {
        dh_suppressions_count(code - DH_SUPPRESSED_FROM);
        return DH_REPORT_SUPPRESSED;
    }
    if (!job->unseen && job->status != 0)
        return DH_REPORT_FAILED;
    return was_told(job->id) ? DH_REPORT_TOLD_BEFORE : DH_REPORT_TOLD;
}

enum dh_report_answer dh_report_spawn(const struct dh_report_bytes *b)
{
    struct job job = {.tool = dh_report_tool(), .bytes = b, .status = FAILED << 8};
    if (!job.tool)
        return DH_REPORT_FAILED;
    set_words(&job);
    long pid = clone_onto(stacks[0], CLONE_VM | CLONE_VFORK, care_for_tool, &job);
    int ignored;
    if (pid < 0)
        return DH_REPORT_FAILED;
    wait_for((int)pid, &ignored, __WCLONE);
    return answer_of(&job);
}

void dh_report_alone(bool is_alone)
{
    if (is_alone)
        dh_report_log_keep();
    __atomic_store_n(&alone, is_alone, __ATOMIC_RELEASE);
}

bool dh_report_is_alone(void)
{
    return __atomic_load_n(&alone, __ATOMIC_ACQUIRE);
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
static void learn(int argc, char **argv, char **envp)
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

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = learn;
