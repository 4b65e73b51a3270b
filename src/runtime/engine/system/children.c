#include "runtime/engine/system/children.h"

#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/io_step.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/models.h"
#include "runtime/engine/system/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum {
    CHILDREN = 64,
    BRIDGES = 32,
    NUMBERS = 1024,
    FIRST_ID = 100000, /* above what the kernel gives, unless told otherwise */
    OWN_DESCRIPTORS = 750,
    BLOCK = 4096,
    QUIET_LOOKS = 3, /* that find the child waiting, before it is taken to be */
    PATIENCE_S = 3   /* less than what a search may overrun */
};

/* A pipe of ours and the real one that stands for it in the child. */
struct bridge {
    struct dh_pipe *pipe;
    int ends[2]; /* -1: closed */
    bool reads, writes;
};

static struct table {
    struct child {
        long pid, id;
        int status;
        bool ended, reaped;
        unsigned n_bridges;
        struct bridge bridges[BRIDGES];
    } at[CHILDREN];
    unsigned n;
} *table;

bool dh_children_init(void)
{
    table = dh_keep_alloc(sizeof *table);
    return table;
}

static long call(long number, long a, long b, long c, long d)
{
    return dh_kernel_call(number, a, b, c, d, 0, 0);
}

/* ---- bytes over the bridges ---- */

static void close_end(struct bridge *b, unsigned end)
{
    if (b->ends[end] >= 0)
        call(SYS_close, b->ends[end], 0, 0, 0);
    b->ends[end] = -1;
}

/* To the child: what waits in the pipe, if nobody here reads it; then its end, if nobody here writes. */
static bool feed(struct bridge *b)
{
    char block[BLOCK];
    bool moved = false;
    for (size_t n; b->ends[1] >= 0 && !dh_pipe_own_readers(b->pipe) && (n = dh_pipe_peek(b->pipe, block, BLOCK));) {
        long written = call(SYS_write, b->ends[1], (long)block, (long)n, 0);
        if (written <= 0)
            return moved;
        dh_pipe_drop(b->pipe, (size_t)written);
        moved = true;
    }
    if (!dh_pipe_own_writers(b->pipe))
        close_end(b, 1);
    return moved;
}

static bool drain(struct bridge *b)
{
    char block[BLOCK];
    bool moved = false;
    for (long n; b->ends[0] >= 0 && dh_pipe_own_readers(b->pipe) &&
                 (n = call(SYS_read, b->ends[0], (long)block, BLOCK, 0)) > 0;) {
        dh_pipe_fill(b->pipe, block, (size_t)n);
        moved = true;
    }
    return moved;
}

static bool move_bytes(struct child *c)
{
    bool moved = false;
    for (unsigned i = 0; i < c->n_bridges; i++) {
        struct bridge *b = &c->bridges[i];
        moved |= b->reads && feed(b);
        moved |= b->writes && drain(b);
    }
    return moved;
}

static void end_child(struct child *c)
{
    move_bytes(c);
    c->ended = true;
    for (unsigned i = 0; i < c->n_bridges; i++) {
        struct bridge *b = &c->bridges[i];
        close_end(b, 0);
        close_end(b, 1);
        dh_pipe_share(b->pipe, b->reads ? -1 : 0, b->writes ? -1 : 0);
    }
    c->n_bridges = 0;
}

/* ---- until it ends or waits for us ---- */

static void path_of(long pid, const char *name, char *out)
{
    char digits[12];
    unsigned n = 0, at = 6;
    dh_text_copy(out, 8, "/proc/");
    for (long p = pid; p; p /= 10)
        digits[n++] = (char)('0' + p % 10);
    while (n)
        out[at++] = digits[--n];
    dh_text_copy(out + at, 16, name);
}

static void read_about(long pid, const char *name, char *out, size_t n)
{
    char path[40];
    path_of(pid, name, path);
    long fd = call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0), got = 0;
    if (fd >= 0) {
        got = call(SYS_read, fd, (long)out, (long)n - 1, 0);
        call(SYS_close, fd, 0, 0, 0);
    }
    out[got > 0 ? got : 0] = 0;
}

static bool sleeps(long pid)
{
    char text[512];
    read_about(pid, "/stat", text, sizeof text);
    const char *state = text;
    for (const char *c = text; *c; c++)
        if (*c == ')')
            state = c;
    return state[0] && state[1] && state[2] == 'S';
}

/* We could still write something for it. */
static bool has_input(const struct child *c)
{
    for (unsigned i = 0; i < c->n_bridges; i++)
        if (c->bridges[i].reads && c->bridges[i].ends[1] >= 0)
            return true;
    return false;
}

static void refuse(const struct child *c)
{
    char name[64];
    read_about(c->pid, "/comm", name, sizeof name);
    for (char *at = name; *at; at++)
        if (*at == '\n')
            *at = 0;
    call(SYS_kill, c->pid, SIGKILL, 0, 0);
    dh_engine_cannot("the child process %s did not end within %d s", name[0] ? name : "?", PATIENCE_S);
}

static void settle(struct child *c)
{
    unsigned quiet = 0;
    uint64_t began = 0, now;
    struct timespec clock, nap = {0, 50000};
    dh_engine->awaits_process = true;
    while (!c->ended) {
        bool moved = move_bytes(c);
        if (call(SYS_wait4, c->pid, (long)&c->status, WNOHANG | __WALL, 0) == c->pid) {
            end_child(c);
            break;
        }
        quiet = !moved && has_input(c) && sleeps(c->pid) ? quiet + 1 : 0;
        if (quiet >= QUIET_LOOKS)
            break;
        call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&clock, 0, 0);
        now = (uint64_t)clock.tv_sec;
        began = began ? began : now;
        if (now > began + PATIENCE_S)
            refuse(c);
        call(SYS_nanosleep, (long)&nap, 0, 0, 0);
        nap.tv_nsec = nap.tv_nsec < 2000000 ? nap.tv_nsec * 2 : nap.tv_nsec;
    }
    dh_engine->awaits_process = false;
}

void dh_children_pipe_changed(struct dh_pipe *p)
{
    for (unsigned i = 0; i < table->n; i++)
        for (unsigned k = 0; k < table->at[i].n_bridges; k++)
            if (table->at[i].bridges[k].pipe == p && !table->at[i].ended) {
                settle(&table->at[i]);
                break;
            }
}

/* ---- fork ---- */

static int high_number(int fd)
{
    long high = call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS, 0);
    call(SYS_close, fd, 0, 0, 0);
    return (int)high;
}

static struct bridge *bridge_to(struct child *c, struct dh_pipe *p)
{
    int ends[2];
    for (unsigned i = 0; i < c->n_bridges; i++)
        if (c->bridges[i].pipe == p)
            return &c->bridges[i];
    if (c->n_bridges == BRIDGES || call(SYS_pipe2, (long)ends, O_CLOEXEC, 0, 0) != 0)
        dh_engine_cannot("a child process with more than %d pipes", BRIDGES);
    struct bridge *b = &c->bridges[c->n_bridges++];
    *b = (struct bridge){.pipe = p, .ends = {high_number(ends[0]), high_number(ends[1])}};
    return b;
}

static bool closes_on_exec(int fd)
{
    return call(SYS_fcntl, fd, F_GETFD, 0, 0) & FD_CLOEXEC;
}

/* Descriptors that close on exec do not keep a pipe open: a child that goes on without one is not known to have them.
 */
static void make_bridges(struct child *c)
{
    for (int fd = 0; fd < NUMBERS; fd++) {
        bool writes;
        const struct dh_description *d = dh_description_of(fd);
        struct dh_pipe *p = d ? dh_pipe_of(d, &writes) : NULL;
        if (!p)
            continue;
        struct bridge *b = bridge_to(c, p);
        if (!closes_on_exec(fd))
            *(writes ? &b->writes : &b->reads) = true;
    }
    for (unsigned i = 0; i < c->n_bridges; i++)
        dh_pipe_share(c->bridges[i].pipe, c->bridges[i].reads, c->bridges[i].writes);
}

/* In the parent nothing waits for the child by a call on the real pipe. */
static void keep_own_ends(struct child *c)
{
    for (unsigned i = 0; i < c->n_bridges; i++) {
        struct bridge *b = &c->bridges[i];
        for (unsigned end = 0; end < 2; end++)
            call(SYS_fcntl, b->ends[end], F_SETFL, O_NONBLOCK, 0);
        if (!b->reads)
            close_end(b, 1);
    }
}

static void use_bridges(const struct child *c)
{
    for (int fd = 0; fd < NUMBERS; fd++) {
        bool writes;
        const struct dh_description *d = dh_description_of(fd);
        struct dh_pipe *p = d ? dh_pipe_of(d, &writes) : NULL;
        for (unsigned i = 0; p && i < c->n_bridges; i++)
            if (c->bridges[i].pipe == p)
                call(SYS_dup3, c->bridges[i].ends[writes], fd, closes_on_exec(fd) ? O_CLOEXEC : 0, 0);
    }
    for (unsigned i = 0; i < table->n; i++)
        for (unsigned k = 0; k < table->at[i].n_bridges; k++) {
            close_end(&table->at[i].bridges[k], 0);
            close_end(&table->at[i].bridges[k], 1);
        }
}

/* libc's fork takes the thread out of its list of stacks, which coroutines are not in: before the id that fork has the
 * kernel set lie the two pointers of the list. */
static void link_stack(long child_tid)
{
    uintptr_t *list = child_tid ? (uintptr_t *)child_tid - 2 : NULL;
    if (list && !list[0] && !list[1])
        list[0] = list[1] = (uintptr_t)list;
}

/* From here on it is a process like any other: no engine, its memory writable, its faults its own. */
static void become_child(const struct child *c)
{
    use_bridges(c);
    call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    dh_snapshot_abandon();
    dh_engine_leave();
}

struct request {
    uint64_t flags;
    long child_tid, stack;
};

static struct request request_of(long number, const long a[6])
{
    if (number == SYS_clone)
        return (struct request){(uint64_t)a[0], a[3], a[1]};
    if (number != SYS_clone3)
        return (struct request){0};
    const struct clone_args *from = (const struct clone_args *)a[0];
    return (struct request){from->flags, (long)from->child_tid, (long)(from->stack + from->stack_size)};
}

static bool handles_sigchld(void)
{
    return (uintptr_t)dh_signals_action(SIGCHLD)->handler > (uintptr_t)SIG_IGN;
}

static struct child *new_child(void)
{
    if (table->n == CHILDREN)
        dh_engine_cannot("more than %d child processes in one schedule", CHILDREN);
    struct child *c = &table->at[table->n];
    *c = (struct child){.id = FIRST_ID + table->n};
    return c;
}

/* The kernel does not tell of its end: that would come at any time. */
long dh_children_fork(long number, const long a[6], long *stack)
{
    struct request q = request_of(number, a);
    uint64_t kept = q.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
    *stack = 0;
    if (q.flags & CLONE_THREAD || handles_sigchld())
        dh_syscalls_cannot(number);
    dh_io_step_on(table, -1, true);
    struct child *c = new_child();
    make_bridges(c);
    if (kept)
        dh_snapshot_unprotect((uintptr_t)q.child_tid, sizeof(int));
    table->n++;
    c->pid = call(SYS_clone, (long)kept, 0, 0, q.child_tid);
    if (c->pid == 0) {
        become_child(c);
        link_stack(number == SYS_clone && kept & CLONE_CHILD_SETTID ? q.child_tid : 0);
        *stack = q.stack;
        return 0;
    }
    if (c->pid < 0) {
        long error = c->pid;
        end_child(c);
        table->n--;
        return error;
    }
    keep_own_ends(c);
    settle(c);
    return c->id;
}

/* ---- waiting ---- */

enum { PID, OPTIONS };

static bool matches(const struct child *c, long pid)
{
    return !c->reaped && (pid == -1 || pid == 0 || c->id == pid);
}

static unsigned count_ended(long pid)
{
    unsigned n = 0;
    for (unsigned i = 0; i < table->n; i++)
        n += matches(&table->at[i], pid) && table->at[i].ended;
    return n;
}

static bool any_left(long pid)
{
    for (unsigned i = 0; i < table->n; i++)
        if (matches(&table->at[i], pid))
            return true;
    return false;
}

/* One for each child that has ended; that none had yet comes first, for who does not wait. */
static uint32_t when_ended(const struct dh_task *t)
{
    unsigned n = count_ended(t->io_args[PID]);
    bool waits = !(t->io_args[OPTIONS] & WNOHANG);
    if (!any_left(t->io_args[PID]))
        return 1;
    n += !waits;
    return n < 8 ? (1u << n) - 1 : 255;
}

static struct child *nth_ended(long pid, uint32_t n)
{
    for (unsigned i = 0; i < table->n; i++)
        if (matches(&table->at[i], pid) && table->at[i].ended && !n--)
            return &table->at[i];
    return NULL;
}

/* NULL: there is none, or none has ended yet. */
static struct child *await(long pid, long options)
{
    struct dh_task *t = dh_engine_self();
    t->io_args[PID] = pid;
    t->io_args[OPTIONS] = options;
    struct dh_step s = {.kind = DH_STEP_IO,
                        .order = DH_IO_CHANGES,
                        .flags = DH_STEP_READS | DH_STEP_WRITES,
                        .site = dh_engine_call_place(),
                        .object = (uint64_t)(uintptr_t)table};
    dh_engine->alternatives[t->index] = when_ended;
    uint32_t chosen = dh_engine_park(&s);
    if (options & WNOHANG && !chosen)
        return NULL;
    return nth_ended(pid, options & WNOHANG ? chosen - 1 : chosen);
}

static void give_status(const struct child *c, int *to)
{
    if (!to)
        return;
    dh_snapshot_unprotect((uintptr_t)to, sizeof *to);
    *to = c->status;
}

static void give_info(const struct child *c, siginfo_t *to)
{
    if (!to)
        return;
    dh_snapshot_unprotect((uintptr_t)to, sizeof *to);
    dh_bytes_zero(to, sizeof *to);
    if (!c)
        return;
    bool exited = WIFEXITED(c->status);
    to->si_signo = SIGCHLD;
    to->si_code = exited ? CLD_EXITED : CLD_KILLED;
    to->si_pid = (pid_t)c->id;
    to->si_status = exited ? WEXITSTATUS(c->status) : WTERMSIG(c->status);
}

bool dh_children_wait(long number, const long a[6], long *result)
{
    bool by_id = number == SYS_waitid;
    long pid = !by_id ? (int)a[0] : (int)a[0] == P_PID ? (int)a[1] : -1, options = (int)(by_id ? a[3] : a[2]);
    if (!any_left(pid))
        return false;
    struct child *c = await(pid, options);
    *result = c ? by_id ? 0 : c->id : any_left(pid) ? 0 : -ECHILD;
    if (by_id)
        give_info(c, (siginfo_t *)a[2]);
    else if (c)
        give_status(c, (int *)a[1]);
    if (c && !(options & WNOWAIT))
        c->reaped = true;
    return true;
}

bool dh_children_kill(long pid, long signal, long *result)
{
    for (unsigned i = 0; i < table->n; i++)
        if (table->at[i].id == pid && !table->at[i].reaped) {
            struct child *c = &table->at[i];
            dh_io_step_on(table, -1, true);
            *result = c->ended ? 0 : call(SYS_kill, c->pid, signal, 0, 0);
            settle(c);
            return true;
        }
    return false;
}

void dh_children_end(void)
{
    for (unsigned i = 0; i < table->n; i++) {
        struct child *c = &table->at[i];
        if (c->ended)
            continue;
        call(SYS_kill, c->pid, SIGKILL, 0, 0);
        call(SYS_wait4, c->pid, (long)&c->status, __WALL, 0);
        for (unsigned k = 0; k < c->n_bridges; k++) {
            close_end(&c->bridges[k], 0);
            close_end(&c->bridges[k], 1);
        }
    }
    table->n = 0;
}
