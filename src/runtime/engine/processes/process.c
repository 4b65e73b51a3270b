/* Child processes: system, popen and wait4. A command runs once; in later schedules the same command with the same
 * input is answered from memory, as is waiting for a child from before the first thread. popen works on a file in
 * memory: the whole output of a command that has ended, or the input of one that runs at pclose, since the progress of
 * a concurrent child would differ from run to run. */
#include "runtime/engine/primitives/primitives.h"

#include "base/random.h"
#include "runtime/engine/processes/children.h"
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

enum { COMMANDS = 1024, STREAMS = 64, OUTPUTS = 8 << 20 };

extern char **environ;

static struct answers {
    struct answer {
        uint64_t request; /* hash of command and input, and how often it was run in the schedule */
        long result;
        int status;
        uint32_t output, size; /* in `outputs` */
    } at[COMMANDS];
    unsigned n;
    /* Bytes, not files: schedules may run in processes whose descriptors are not those of the first one. */
    uint32_t used;
    char outputs[OUTPUTS];
} *answers;

/* Open popen streams of this schedule. */
static struct stream {
    FILE *file;
    uint64_t request;
    const char *command; /* to be run at pclose, or NULL */
    int status;
} streams[STREAMS];

bool dh_commands_init(void)
{
    answers = dh_keep_lasting(sizeof *answers);
    return answers;
}

static uint64_t request_of(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return dh_fnv(DH_FNV_BASIS, text, n) + dh_engine->commands++;
}

static const struct answer *find(uint64_t request)
{
    for (unsigned i = 0; i < answers->n; i++)
        if (answers->at[i].request == request)
            return &answers->at[i];
    return NULL;
}

static void add_answer(struct answer a)
{
    if (answers->n < COMMANDS)
        answers->at[answers->n++] = a;
}

/* ---- running ---- */

static int run_command(const char *command)
{
    bool before = dh_syscalls_allow(true);
    dh_engine->awaits_process = true;
    int status = dh_real.system(command);
    dh_engine->awaits_process = false;
    dh_syscalls_allow(before);
    return status;
}

static long wait_for(long child, int *status)
{
    long result;
    dh_engine->awaits_process = true;
    do
        result = dh_kernel_call(SYS_wait4, child, (long)status, 0, 0, 0, 0);
    while (result == -EINTR);
    dh_engine->awaits_process = false;
    return result;
}

/* With the file as its standard input or output; returns its wait status, or -1. */
static int run_with(const char *command, int file, int as)
{
    const char *const words[] = {"sh", "-c", command, NULL};
    posix_spawn_file_actions_t actions;
    bool before = dh_syscalls_allow(true);
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, file, as);
    int error = posix_spawn(&child, "/bin/sh", &actions, NULL, (char **)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error || wait_for(child, &status) < 0)
        status = -1;
    dh_syscalls_allow(before);
    return status;
}

int dh_engine_system(const char *command)
{
    if (!command)
        return run_command(command);
    dh_engine_park_at(DH_STEP_IO, 0, NULL, NULL, NULL);
    uint64_t request = request_of(command);
    const struct answer *known = find(request);
    if (known)
        return known->status;
    int status = run_command(command);
    add_answer((struct answer){.request = request, .status = status});
    return status;
}

/* ---- streams ---- */

static struct stream *stream_of(const FILE *file)
{
    for (unsigned i = 0; i < STREAMS; i++)
        if (streams[i].file == file)
            return &streams[i];
    return NULL;
}

/* What is too long to be kept is made again by the next schedule. */
static void keep_output(struct answer a, int file)
{
    long n;
    a.output = answers->used;
    while (a.size < OUTPUTS - a.output &&
           (n = dh_kernel_call(SYS_pread64, file, (long)(answers->outputs + a.output + a.size),
                               OUTPUTS - a.output - a.size, a.size, 0, 0)) > 0)
        a.size += (uint32_t)n;
    if (a.size == OUTPUTS - a.output || answers->n == COMMANDS)
        return;
    answers->used += a.size;
    add_answer(a);
}

static bool write_output(const struct answer *a, int file)
{
    long n = 1;
    for (uint32_t at = 0; at < a->size && n > 0; at += (uint32_t)n)
        n = dh_kernel_call(SYS_pwrite64, file, (long)(answers->outputs + a->output + at), a->size - at, at, 0, 0);
    return n > 0;
}

/* A file in memory with the output of the command; negative: there is none. */
static long output_of(uint64_t request, const char *command, int *status)
{
    const struct answer *known = find(request);
    long file = dh_files_new_in_memory("output");
    if (file < 0)
        return file;
    if (!known) {
        *status = run_with(command, (int)file, 1);
        keep_output((struct answer){.request = request, .status = *status}, (int)file);
        return file;
    }
    *status = known->status;
    if (write_output(known, (int)file))
        return file;
    dh_kernel_call(SYS_close, file, 0, 0, 0, 0, 0);
    return -ENOMEM;
}

static FILE *fail(int error)
{
    errno = error;
    return NULL;
}

FILE *dh_engine_popen(const char *command, const char *type)
{
    bool reads = type[0] == 'r', writes = type[0] == 'w';
    int status = 0;
    if (reads == writes)
        return fail(EINVAL);
    dh_engine_park_at(DH_STEP_IO, 0, NULL, NULL, NULL);
    uint64_t request = request_of(command);
    if (!stream_of(NULL))
        return fail(EMFILE);
    long data = reads ? output_of(request, command, &status) : dh_files_new_in_memory("input");
    long fd = data < 0 ? data : dh_files_reopen((int)data, reads ? O_RDONLY : O_RDWR);
    if (data >= 0)
        dh_kernel_call(SYS_close, data, 0, 0, 0, 0, 0);
    FILE *file = fd < 0 ? NULL : fdopen((int)fd, reads ? "r" : "w"); /* others may go on meanwhile */
    struct stream *s = stream_of(NULL);
    if (!file || !s)
        return fail(fd < 0 ? (int)-fd : ENOMEM);
    *s = (struct stream){file, request, reads ? NULL : dh_real.strdup(command), status};
    return file;
}

/* The input is part of the request. */
static int run_collected(const struct stream *s)
{
    char buffer[4096];
    uint64_t request = s->request;
    int input = fileno(s->file);
    long n, at = 0;
    for (; (n = dh_kernel_call(SYS_pread64, input, (long)buffer, sizeof buffer, at, 0, 0)) > 0; at += n)
        request = dh_fnv(request, buffer, (size_t)n);
    const struct answer *known = find(request);
    if (known)
        return known->status;
    dh_kernel_call(SYS_lseek, input, 0, SEEK_SET, 0, 0, 0);
    struct answer a = {.request = request, .status = run_with(s->command, input, 0)};
    add_answer(a);
    return a.status;
}

int dh_engine_pclose(FILE *file)
{
    struct stream *s = file ? stream_of(file) : NULL;
    if (!s)
        return dh_real.pclose(file);
    dh_engine_park_at(DH_STEP_IO, 0, NULL, NULL, NULL);
    if (s->command) {
        dh_real.fflush(file);
        s->status = run_collected(s);
        dh_real.free((void *)s->command);
    }
    int status = s->status;
    *s = (struct stream){0};
    dh_real.fclose(file);
    return status;
}

/* ---- children from before the first thread ---- */

static void give_status(const struct answer *from, int *to)
{
    if (!to || from->result <= 0)
        return;
    dh_snapshot_unprotect((uintptr_t)to, sizeof *to);
    *to = from->status;
}

static void give_info(const struct answer *from, siginfo_t *to)
{
    if (!to || from->result < 0)
        return;
    bool exited = WIFEXITED(from->status);
    dh_snapshot_unprotect((uintptr_t)to, sizeof *to);
    dh_bytes_zero(to, sizeof *to);
    if (from->result == 0)
        return;
    to->si_signo = SIGCHLD;
    to->si_code = exited ? CLD_EXITED : CLD_KILLED;
    to->si_pid = (pid_t)from->result;
    to->si_status = exited ? WEXITSTATUS(from->status) : WTERMSIG(from->status);
}

/* A child ends once: later schedules get the first answer. In a fresh process it ends in each. */
static long wait_for_earlier(long number, const long a[6])
{
    bool by_id = number == SYS_waitid;
    long pid = !by_id ? a[0] : a[0] == P_PID ? a[1] : a[0] == P_PGID ? -a[1] : -1, options = a[by_id ? 3 : 2];
    long key[3] = {pid, options, dh_engine->commands++};
    uint64_t request = dh_fnv(~0ull, key, sizeof key);
    const struct answer *known = find(request);
    struct answer now = {.request = request};
    if (!by_id && options & WNOWAIT)
        return -EINVAL;
    if (options & WNOWAIT || (by_id && a[0] == P_PIDFD))
        dh_syscalls_cannot(number);
    if (!known) {
        dh_engine->awaits_process = true;
        do
            now.result = dh_kernel_call(SYS_wait4, pid, (long)&now.status, options & (WNOHANG | __WALL), 0, 0, 0);
        while (now.result == -EINTR);
        dh_engine->awaits_process = false;
        add_answer(now);
        known = &now;
    }
    if (by_id)
        give_info(known, (siginfo_t *)a[2]);
    else
        give_status(known, (int *)a[1]);
    return by_id && known->result > 0 ? 0 : known->result;
}

static bool has_earlier(void)
{
    siginfo_t info;
    return dh_kernel_call(SYS_waitid, P_ALL, 0, (long)&info, WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0) == 0;
}

long dh_commands_wait(long number, const long a[6])
{
    long result;
    if (dh_children_wait(number, a, &result))
        return result;
    if (dh_fresh_processes_on() && has_earlier())
        dh_syscalls_for_real();
    return wait_for_earlier(number, a);
}
