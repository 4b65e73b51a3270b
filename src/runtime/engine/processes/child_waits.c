/* Waiting for child processes: wait4, waitid, and descriptors that stand for one. */
#include "runtime/engine/processes/children.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
    MISSES = 3, /* times that who does not wait may find a child running which has ended */
    PID = 0,    /* io_args of the task */
    OPTIONS = 1,
    ANY = -1,
    BY_PID = WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | (int)__WCLONE | __WALL,
    BY_ID = BY_PID | WEXITED | WNOWAIT
};

static bool matches(const struct dh_forked *c, long pid)
{
    return !c->reaped && (pid == ANY || c->id == pid);
}

static unsigned count_ended(long pid)
{
    unsigned n = 0;
    for (unsigned i = 0; i < dh_forked_table()->n; i++)
        n += matches(&dh_forked_table()->at[i], pid) && dh_forked_table()->at[i].ended;
    return n;
}

static bool any_left(long pid)
{
    for (unsigned i = 0; i < dh_forked_table()->n; i++)
        if (matches(&dh_forked_table()->at[i], pid))
            return true;
    return false;
}

/* May it be that none has ended yet, as far as the program can know? */
static bool may_miss(long pid)
{
    for (unsigned i = 0; i < dh_forked_table()->n; i++) {
        const struct dh_forked *c = &dh_forked_table()->at[i];
        if (!matches(c, pid) || !c->ended || (!c->is_known && c->misses < MISSES))
            continue;
        if (!c->is_known) /* it could be missed more often: not all schedules are tried */
            dh_engine->control->progress.uncovered |= DH_GAP_CHILDREN;
        return false;
    }
    return true;
}

/* One for each child that has ended. Who does not wait has that none has yet before them. */
static uint32_t when_ended(const struct dh_task *t)
{
    long pid = t->io_args[PID];
    bool waits = !(t->io_args[OPTIONS] & WNOHANG);
    unsigned n = count_ended(pid);
    if (!any_left(pid))
        return 1;
    uint32_t ended = n < 7 ? (1u << n) - 1 : 127;
    return waits ? ended : ended << 1 | (may_miss(pid) || !n);
}

/* A child that waits for a signal may get it from anybody. */
static bool may_end_from_outside(const struct dh_task *t)
{
    for (unsigned i = 0; i < dh_forked_table()->n; i++)
        if (matches(&dh_forked_table()->at[i], t->io_args[PID]) && dh_forked_table()->at[i].waits_for_signal)
            return true;
    return false;
}

static struct dh_forked *nth_ended(long pid, uint32_t n)
{
    for (unsigned i = 0; i < dh_forked_table()->n; i++)
        if (matches(&dh_forked_table()->at[i], pid) && dh_forked_table()->at[i].ended && !n--)
            return &dh_forked_table()->at[i];
    return NULL;
}

static void miss(long pid)
{
    for (unsigned i = 0; i < dh_forked_table()->n; i++)
        if (matches(&dh_forked_table()->at[i], pid) && dh_forked_table()->at[i].ended)
            dh_forked_table()->at[i].misses++;
}

/* False: a handler ended the wait. NULL in `out`: there is none, or none has ended yet. */
static bool await(long pid, long options, struct dh_forked **out)
{
    struct dh_task *t = dh_engine_self();
    bool waits = !(options & WNOHANG);
    *out = NULL;
    if (waits)
        dh_signals_enter_wait();
    t->io_args[PID] = pid;
    t->io_args[OPTIONS] = options;
    t->io_outside = may_end_from_outside;
    struct dh_step s = {.kind = DH_STEP_IO,
                        .order = DH_IO_CHANGES,
                        .flags = DH_STEP_READS | DH_STEP_WRITES,
                        .site = dh_engine_call_place(),
                        .object = (uint64_t)(uintptr_t)dh_forked_table()};
    dh_engine->alternatives[t->index] = when_ended;
    t->interrupts = waits ? DH_RESTARTS : DH_GOES_ON;
    uint32_t chosen = dh_engine_park(&s);
    t->interrupts = DH_GOES_ON;
    t->io_outside = NULL;
    if (chosen == DH_INTERRUPTED)
        return false;
    if (waits || chosen)
        *out = nth_ended(pid, waits ? chosen : chosen - 1);
    else
        miss(pid);
    return true;
}

/* ---- answers ---- */

/* Times differ from run to run: none is answered. */
static void give_status(const struct dh_forked *c, int *status, struct rusage *usage)
{
    if (status) {
        dh_snapshot_unprotect((uintptr_t)status, sizeof *status);
        *status = c->status;
    }
    if (usage) {
        dh_snapshot_unprotect((uintptr_t)usage, sizeof *usage);
        dh_bytes_zero(usage, sizeof *usage);
    }
}

static void give_info(const struct dh_forked *c, siginfo_t *to)
{
    if (!to)
        return;
    siginfo_t info;
    dh_snapshot_unprotect((uintptr_t)to, sizeof *to);
    dh_bytes_zero(&info, sizeof info);
    if (c)
        info = dh_children_end_of(c);
    dh_bytes_copy(to, &info, sizeof info);
}

/* ---- descriptors ---- */

static const struct dh_description_ops pidfd;

static long *child_of(long fd)
{
    const struct dh_description *d = dh_description_of(fd);
    return d && d->ops == &pidfd ? d->state : NULL;
}

static uint32_t poll_pidfd(const struct dh_description *d, size_t size)
{
    (void)size;
    const struct dh_forked *c = dh_forked_find(*(const long *)d->state);
    return !c || c->ended ? POLLIN | POLLRDNORM : 0;
}

static void release_pidfd(struct dh_description *d)
{
    dh_model_free(d->state, sizeof(long));
}

static const struct dh_description_ops pidfd = {.name = "pidfd", .poll = poll_pidfd, .release = release_pidfd};

/* Of other processes it is the kernel's. */
long dh_pidfd_open(long number, const long a[6])
{
    if (!dh_forked_find(a[0]))
        return dh_files_new_descriptor(number, a);
    dh_io_step_numbers(NULL, -1);
    struct dh_description *d;
    long *id = dh_model_alloc(sizeof *id);
    *id = a[0];
    long fd = dh_description_open(&pidfd, id, O_RDWR | ((unsigned)a[1] & O_NONBLOCK), true, &d);
    if (fd >= 0)
        d->object = dh_forked_table();
    return fd;
}

long dh_pidfd_send_signal(long number, const long a[6])
{
    const long *id = child_of(a[0]);
    long result;
    if (!id)
        return dh_syscalls_cannot(number);
    return dh_children_kill(*id, a[1], &result) ? result : -ESRCH;
}

/* ---- the calls ---- */

/* Process groups of children are not known: any child will do. */
static long who_of(long number, const long a[6])
{
    bool by_id = number == SYS_waitid;
    const long *id = by_id && a[0] == P_PIDFD ? child_of(a[1]) : NULL;
    if (id)
        return *id;
    if (by_id)
        return a[0] == P_PID ? (int)a[1] : ANY;
    return (int)a[0] > 0 ? (int)a[0] : ANY;
}

bool dh_children_wait(long number, const long a[6], long *result)
{
    bool by_id = number == SYS_waitid;
    long pid = who_of(number, a), options = (int)(by_id ? a[3] : a[2]);
    struct dh_forked *c;
    if (!any_left(pid))
        return false;
    if (options & ~(by_id ? BY_ID : BY_PID)) {
        *result = -EINVAL;
        return true;
    }
    if (!await(pid, options, &c)) {
        *result = -EINTR;
        return true;
    }
    *result = c ? by_id ? 0 : c->id : any_left(pid) ? 0 : -ECHILD;
    if (by_id && *result == 0)
        give_info(c, (siginfo_t *)a[2]);
    if (c)
        give_status(c, by_id ? NULL : (int *)a[1], (struct rusage *)a[by_id ? 4 : 3]);
    if (c && !(options & WNOWAIT))
        c->reaped = true;
    return true;
}
