/* The ways out of the process: return from main, exit, quick_exit (registered at the start), _exit. The exit code
 * stays the program's unless something was found: then, as with other sanitizers, it is the option exitcode's whatever
 * the program's was. Ends by a signal stay as they are. Format of the threads file: see src/cmd/threads_print.h. */
#include "runtime/core/context.h"
#include "runtime/core/modules.h"
#include "runtime/core/options.h"
#include "runtime/core/parts.h"
#include "runtime/core/start.h"
#include "runtime/core/threads.h"
#include "runtime/interpose/interpose.h"
#include "runtime/interpose/real.h"
#include "runtime/platform/print.h"
#include "runtime/platform/raw_syscall.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FRAMES_WRITTEN 128

/* Tabs separate and a newline ends: both, and the backslash, are written as \xNN in names. */
static void write_escaped(struct dh_sink *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ' || c == '\\' || c == 127)
            dh_sink_printf(out, "\\x%c%c", "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]);
        else
            dh_sink_char(out, *text);
    }
}

static void write_frame(struct dh_sink *out, uintptr_t address)
{
    const struct dh_module *m = dh_modules_find(address);
    dh_sink_char(out, '\t');
    write_escaped(out, m ? m->path : "?");
    dh_sink_printf(out, "+0x%lx", (unsigned long)(m ? address - m->base : address));
}

static void write_thread(struct dh_sink *out, const struct dh_thread *t)
{
    uintptr_t frames[FRAMES_WRITTEN];
    dh_sink_printf(out, "%u\t", t->index);
    write_escaped(out, t->name);
    if (t->parent == DH_THREAD_NONE)
        dh_sink_printf(out, "\t-");
    else
        dh_sink_printf(out, "\t%u", t->parent);
    dh_sink_printf(out, "\t%s\t%d", dh_thread_state_name(t), t->tid);
    dh_modules_note(t->context);
    size_t n = dh_context_frames(t->context, frames, FRAMES_WRITTEN);
    for (size_t i = 0; i < n && i < FRAMES_WRITTEN; i++)
        write_frame(out, frames[i]);
    dh_sink_char(out, '\n');
}

static void write_threads(struct dh_sink *out)
{
    uint32_t n = dh_threads_count();
    dh_sink_printf(out, "deadheat-threads 1\n");
    for (uint32_t i = 0; i < n; i++) {
        const struct dh_thread *t = dh_threads_find(i);
        if (t)
            write_thread(out, t);
    }
    if (n > DH_THREADS_KEPT)
        dh_sink_printf(out, "# %u later threads were not kept\n", n - DH_THREADS_KEPT);
}

void dh_threads_at_exit(void)
{
    char child_path[DH_PRINT_BUFFER];
    const char *path = dh_options.threads_file;
    if (!path || dh_report_is_sandboxed())
        return;
    if (dh_process.forked) {
        dh_print_text(child_path, sizeof child_path, "%s.%d", path, dh_process.pid);
        path = child_path;
    }
    dh_print_file("threads_file", path, write_threads);
}

/* A confined process (seccomp) may not ask; nor will it have children. */
static int own_pid(void)
{
    return dh_report_is_sandboxed() ? dh_process.pid : dh_sys_getpid();
}

/* ---- threads that go on ---- */

/* It computes, or sleeps for a time. What waits for anything else may do so for ever. Where the kernel does not say, it
 * goes on. */
static bool goes_on(int tid)
{
    char path[64], said[16] = "";
    dh_print_text(path, sizeof path, "/proc/self/task/%d/syscall", tid);
    long fd = dh_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd != -ENOENT;
    long n = dh_syscall3(SYS_read, fd, (long)said, sizeof said - 1);
    dh_syscall3(SYS_close, fd, 0, 0);
    if (n <= 0 || said[0] == 'r')
        return true;
    int number = 0;
    for (const char *c = said; *c >= '0' && *c <= '9'; c++)
        number = number * 10 + *c - '0';
    return number == SYS_nanosleep || number == SYS_clock_nanosleep;
}

static bool any_goes_on(void)
{
    enum { OVER = DH_THREAD_FINISHED | DH_THREAD_JOINED | DH_THREAD_ABSENT };
    long self = dh_syscall3(SYS_gettid, 0, 0, 0);
    for (uint32_t i = 0; i < dh_threads_count(); i++) {
        const struct dh_thread *t = dh_threads_find(i);
        uint32_t flags = t ? atomic_load(&t->flags) : OVER;
        bool is_there = flags & DH_THREAD_CREATED && !(flags & OVER);
        if (is_there && (!t->tid || (t->tid != self && goes_on(t->tid))))
            return true;
    }
    return false;
}

static void let_others_go_on(void)
{
    enum { SLICE_MS = 5 };
    const struct timespec slice = {0, SLICE_MS * 1000000L};
    if (dh_options.atexit_sleep_ms <= 0 || dh_report_is_sandboxed())
        return;
    bool go_on = any_goes_on();
    for (int ms = 0; go_on && ms < dh_options.atexit_sleep_ms; ms += SLICE_MS) {
        dh_syscall3(SYS_nanosleep, (long)&slice, 0, 0);
        go_on = any_goes_on();
    }
    if (go_on)
        dh_report_note("threads were still running when the process ended: what they had not done yet was not checked");
}

void dh_finish(void)
{
    static int finished_pid;
    if (dh_engine_on) /* the schedule ends, not the process */
        return;
    int pid = own_pid();
    /* A child of vfork shares our memory, one of a raw fork is none of our business. */
    if (!dh_process.started || pid != dh_process.pid ||
        __atomic_exchange_n(&finished_pid, pid, __ATOMIC_ACQ_REL) == pid)
        return;
    let_others_go_on();
    dh_parts_at_exit();
}

__attribute__((section(".fini_array.00000"), used)) static void (*const fini)(void) = dh_finish;

static bool code_changes(void)
{
    return dh_process.started && own_pid() == dh_process.pid && dh_options.exitcode && dh_report_count();
}

/* The last that libc calls, after every destructor of the program and its libraries. Calling exit again is how glibc
 * lets a handler change the status: what is left to do is done once, standard streams included. */
static void before_end(void *unused)
{
    static bool again;
    (void)unused;
    dh_finish();
    if (code_changes() && !__atomic_exchange_n(&again, true, __ATOMIC_ACQ_REL))
        exit(dh_options.exitcode);
}

static void before_quick_exit(void *unused)
{
    (void)unused;
    dh_finish();
    if (code_changes())
        dh_sys_exit_group(dh_options.exitcode);
}

/* Registered before libc registers the destructors of libraries, so called after them. */
void dh_finish_register(void)
{
    dh_real.__cxa_atexit(before_end, NULL, NULL);
    dh_real.__cxa_at_quick_exit(before_quick_exit, NULL);
}

static void dh_interposed__exit(int status)
{
    dh_finish();
    if (code_changes())
        status = dh_options.exitcode;
    if (dh_real._exit)
        dh_real._exit(status);
    dh_sys_exit_group(status);
}
DH_INTERPOSE(_exit);

static void dh_interposed__Exit(int status)
{
    dh_interposed__exit(status);
}
DH_INTERPOSE(_Exit);
