#include "runtime/engine/processes/children.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

enum {
    FIRST_ID = 100000,  /* above what the kernel gives, unless told otherwise */
    QUIET_LOOKS = 3,    /* that find the child waiting, before it is taken to be */
    PATIENCE_MS = 3000, /* less than what a search may overrun */
    SLEEP_MS = 1300,    /* that it may sleep of it, in one piece */
    DEPTH = 8           /* of processes that wait for their children */
};

static struct dh_forked_table *table;

/* What pthread_atfork calls. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

/* libc's fork holds the locks of the heap and of streams around the system call: a thread that goes on meanwhile would
 * wait for them in the kernel. So the steps of a fork are before and after that. */
static const struct dh_task *in_fork;

static bool is_explored(void)
{
    return dh_engine && dh_engine_on && dh_engine->current && !(dh_engine->flags & DH_ENGINE_FOR_REAL);
}

static void before_fork(void)
{
    if (!is_explored())
        return;
    dh_io_step_on(table, -1, true);
    in_fork = dh_engine_self();
}

static void after_fork(void)
{
    if (!is_explored())
        return;
    in_fork = NULL;
    dh_children_report();
}

bool dh_children_init(void)
{
    table = dh_keep_alloc(sizeof *table);
    return table && __register_atfork(before_fork, after_fork, NULL, NULL) == 0;
}

static long call(long number, long a, long b, long c, long d)
{
    return dh_kernel_call(number, a, b, c, d, 0, 0);
}

/* Nobody will wait for those of a program that does not want to know. */
static void end_child(struct dh_forked *c)
{
    const struct dh_kernel_sigaction *a = dh_signals_action(SIGCHLD);
    dh_bridges_move(&c->bridges);
    c->ended = true;
    c->reaped = a->handler == (void *)SIG_IGN || a->flags & SA_NOCLDWAIT;
    dh_bridges_end(&c->bridges);
}

/* ---- until it ends or waits for us ---- */

static void read_about(long pid, const char *name, char *out, size_t n)
{
    char path[64];
    dh_print_text(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    long fd = call(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0, 0), got = 0;
    if (fd >= 0) {
        got = call(SYS_read, fd, (long)out, (long)n - 1, 0);
        call(SYS_close, fd, 0, 0, 0);
    }
    out[got > 0 ? got : 0] = 0;
}

static long number_in(const char *text)
{
    long n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = n * 10 + (*text - '0');
    return n;
}

static bool sleeps(long pid)
{
    char text[512];
    read_about(pid, "stat", text, sizeof text);
    const char *state = text;
    for (const char *c = text; *c; c++)
        if (*c == ')')
            state = c;
    return state[0] && state[1] && state[2] == 'S';
}

enum { RUNS = -1, UNKNOWN = -2 };

/* The system call that the process sleeps in. */
static long sleeps_in(long pid)
{
    char text[256];
    if (!sleeps(pid))
        return RUNS;
    read_about(pid, "syscall", text, sizeof text);
    return !text[0] ? UNKNOWN : text[0] >= '0' && text[0] <= '9' ? number_in(text) : RUNS;
}

/* One that waits for its own children waits for what the first of them does. */
static long waits_in(long pid)
{
    char text[256], name[32];
    long in = sleeps_in(pid);
    for (unsigned depth = 0; (in == SYS_wait4 || in == SYS_waitid) && depth < DEPTH; depth++) {
        dh_print_text(name, sizeof name, "task/%d/children", (int)pid);
        read_about(pid, name, text, sizeof text);
        pid = number_in(text);
        in = pid ? sleeps_in(pid) : RUNS;
    }
    return in;
}

static bool awaits_bytes(long in)
{
    return in == SYS_read || in == SYS_readv || in == SYS_recvfrom || in == SYS_recvmsg || in == SYS_poll ||
           in == SYS_ppoll || in == SYS_select || in == SYS_pselect6 || in == SYS_epoll_wait || in == SYS_epoll_pwait ||
           in == SYS_splice || in == UNKNOWN;
}

static bool awaits_signal(long in)
{
    return in == SYS_pause || in == SYS_rt_sigsuspend || in == SYS_rt_sigtimedwait;
}

/* Does it wait for something that we could do? */
static bool waits_for_us(struct dh_forked *c)
{
    long in = waits_in(c->pid);
    c->waits_for_signal = awaits_signal(in);
    return c->waits_for_signal || (awaits_bytes(in) && dh_bridges_lead_to_child(&c->bridges));
}

static void refuse(const struct dh_forked *c)
{
    char name[64];
    read_about(c->pid, "comm", name, sizeof name);
    for (char *at = name; *at; at++)
        if (*at == '\n')
            *at = 0;
    call(SYS_kill, c->pid, SIGKILL, 0, 0);
    dh_engine_cannot("the child process %s does not end", name[0] ? name : "?");
}

static uint64_t milliseconds(void)
{
    struct timespec now;
    call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void settle(struct dh_forked *c)
{
    unsigned quiet = 0;
    uint64_t began = milliseconds(), worked = began;
    struct timespec nap = {0, 50000};
    c->waits_for_signal = false;
    dh_engine->awaits_process = true;
    while (!c->ended) {
        bool moved = dh_bridges_move(&c->bridges);
        if (call(SYS_wait4, c->pid, (long)&c->status, WNOHANG | __WALL, 0) == c->pid) {
            end_child(c);
            break;
        }
        quiet = !moved && waits_for_us(c) ? quiet + 1 : 0;
        if (quiet >= QUIET_LOOKS)
            break;
        worked = moved || !sleeps(c->pid) ? milliseconds() : worked;
        if (milliseconds() > worked + SLEEP_MS || milliseconds() > began + PATIENCE_MS)
            refuse(c);
        call(SYS_nanosleep, (long)&nap, 0, 0, 0);
        nap.tv_nsec = nap.tv_nsec < 2000000 ? nap.tv_nsec * 2 : nap.tv_nsec;
    }
    dh_engine->awaits_process = false;
}

void dh_children_channel_changed(const void *channel)
{
    for (unsigned i = 0; i < table->n; i++)
        if (!table->at[i].ended && dh_bridges_concern(&table->at[i].bridges, channel))
            settle(&table->at[i]);
}

/* ---- fork ---- */

/* libc's fork takes the thread out of its list of stacks, which coroutines are not in: before the id that fork has the
 * kernel set lie the two pointers of the list. */
static void link_stack(long child_tid)
{
    uintptr_t *list = child_tid ? (uintptr_t *)child_tid - 2 : NULL;
    if (list && !list[0] && !list[1])
        list[0] = list[1] = (uintptr_t)list;
}

/* From here on it is a process like any other: no engine, its memory writable, its faults its own. */
static void become_child(const struct dh_forked *self)
{
    dh_bridges_use(&self->bridges);
    for (unsigned i = 0; i < table->n; i++)
        dh_bridges_close_in_child(&table->at[i].bridges, &table->at[i] == self);
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

static struct dh_forked *new_child(void)
{
    if (table->n == DH_CHILDREN)
        dh_engine_cannot("more than %d child processes in one schedule", DH_CHILDREN);
    struct dh_forked *c = &table->at[table->n];
    *c = (struct dh_forked){.id = FIRST_ID + table->n, .bridges.executes = {-1, -1}};
    return c;
}

/* One that shares our memory, and goes on beside us, is a thread. */
static bool is_thread(const struct request *q)
{
    return q->flags & CLONE_THREAD || (q->flags & CLONE_VM && !(q->flags & CLONE_VFORK));
}

/* The kernel does not send SIGCHLD: that would come at any time. */
long dh_children_fork(long number, const long a[6], long *stack)
{
    struct request q = request_of(number, a);
    uint64_t kept = q.flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID);
    *stack = 0;
    if (is_thread(&q) || q.flags & CLONE_PIDFD)
        dh_syscalls_never(number);
    bool is_libc = in_fork == dh_engine_self();
    if (!is_libc)
        dh_io_step_on(table, -1, true);
    struct dh_forked *c = new_child();
    dh_bridges_make(&c->bridges);
    if (kept)
        dh_snapshot_unprotect((uintptr_t)q.child_tid, sizeof(int));
    table->n++;
    long pid = call(SYS_clone, (long)kept, 0, 0, q.child_tid); /* KEEP memory may be shared with it */
    if (pid == 0) {
        become_child(c);
        link_stack(number == SYS_clone && kept & CLONE_CHILD_SETTID ? q.child_tid : 0);
        *stack = q.stack;
        return 0;
    }
    if (pid < 0) {
        dh_bridges_end(&c->bridges);
        table->n--;
        return pid;
    }
    c->pid = pid;
    dh_bridges_keep_own(&c->bridges);
    settle(c);
    if (!is_libc)
        dh_children_report();
    return c->id;
}

/* ---- SIGCHLD ---- */

siginfo_t dh_children_end_of(const struct dh_forked *c)
{
    siginfo_t i;
    dh_bytes_zero(&i, sizeof i);
    bool exited = WIFEXITED(c->status);
    i.si_signo = SIGCHLD;
    i.si_code = exited ? CLD_EXITED : WCOREDUMP(c->status) ? CLD_DUMPED : CLD_KILLED;
    i.si_pid = (pid_t)c->id;
    i.si_uid = (uid_t)call(SYS_getuid, 0, 0, 0, 0);
    i.si_status = exited ? WEXITSTATUS(c->status) : WTERMSIG(c->status);
    return i;
}

/* A step of its own, since others may wait for it; when it is taken is the schedule's choice. */
void dh_children_report(void)
{
    for (unsigned i = 0; i < table->n; i++) {
        struct dh_forked *c = &table->at[i];
        if (!c->ended || c->is_reported)
            continue;
        c->is_reported = true;
        siginfo_t info = dh_children_end_of(c);
        if (!dh_signals_would_drop(SIGCHLD))
            dh_engine_park_at(DH_STEP_KILL, 0, (void *)(uintptr_t)UINT32_MAX, (void *)(uintptr_t)SIGCHLD, NULL);
        dh_signals_raise(NULL, SIGCHLD, &info);
    }
}

void dh_children_signal_taken(void)
{
    for (unsigned i = 0; table && i < table->n; i++)
        table->at[i].is_known |= table->at[i].is_reported;
}

struct dh_forked_table *dh_forked_table(void)
{
    return table;
}

struct dh_forked *dh_forked_find(long id)
{
    for (unsigned i = 0; i < table->n; i++)
        if (table->at[i].id == id && !table->at[i].reaped)
            return &table->at[i];
    return NULL;
}

bool dh_children_kill(long pid, long signal, long *result)
{
    if (!dh_forked_find(pid))
        return false;
    dh_io_step_on(table, -1, true);
    struct dh_forked *c = dh_forked_find(pid);
    if (!c) {
        *result = -ESRCH;
        return true;
    }
    *result = c->ended ? 0 : call(SYS_kill, c->pid, signal, 0, 0);
    settle(c);
    return true;
}

void dh_children_forget(void)
{
    table->n = 0;
}

void dh_children_end(void)
{
    for (unsigned i = 0; i < table->n; i++) {
        struct dh_forked *c = &table->at[i];
        if (c->ended)
            continue;
        call(SYS_kill, c->pid, SIGKILL, 0, 0);
        call(SYS_wait4, c->pid, (long)&c->status, __WALL, 0);
        dh_bridges_close(&c->bridges);
    }
    table->n = 0;
}
