#include "runtime/engine/system/event.h"

#include "runtime/engine/snapshot.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/time.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/select.h>

/* Without waiting; of parked tasks repeated at every decision. */
static long poll_now(struct pollfd *fds, long n)
{
    struct timespec none = {0, 0};
    return dh_kernel_call(SYS_ppoll, (long)fds, n, (long)&none, 0, 8, 0);
}

static uint32_t alternatives_if(const struct dh_task *t, bool ready)
{
    if (ready || (t->cancel_pending && !t->cancel_off))
        return 1;
    return dh_task_step(t)->flags & DH_STEP_TIMED ? 2 : 0;
}

/* True: timeout. */
static bool wait_for(const void *object, int64_t timeout_ns, dh_engine_alternatives *alternatives)
{
    if (timeout_ns > 0)
        dh_engine_self()->deadline = dh_engine->now_ns + (uint64_t)timeout_ns;
    if (dh_engine_park_at(DH_STEP_IO, timeout_ns > 0 ? DH_STEP_TIMED : 0, object, NULL, alternatives) == 0)
        return false;
    dh_virtual_time_advance(dh_engine_self()->deadline);
    return true;
}

/* ---- read and its like ---- */

static uint32_t when_readable(const struct dh_task *t)
{
    struct pollfd p = {(int)dh_task_step(t)->object, POLLIN, 0};
    return alternatives_if(t, poll_now(&p, 1) != 0);
}

void dh_wait_until_readable(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    if (poll_now(&p, 1) != 0 || dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK)
        return;
    wait_for((void *)(uintptr_t)fd, 0, when_readable);
}

/* ---- poll ---- */

static uint32_t when_polled(const struct dh_task *t)
{
    return alternatives_if(t, poll_now((struct pollfd *)t->io_args[0], t->io_args[1]) != 0);
}

static int64_t nanoseconds(const struct timespec *t)
{
    return t ? (int64_t)t->tv_sec * 1000000000 + t->tv_nsec : -1;
}

long dh_wait_poll(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    int64_t timeout = number == SYS_ppoll ? nanoseconds((const struct timespec *)a[2])
                      : (int)a[2] < 0     ? -1
                                          : (int64_t)(int)a[2] * 1000000;
    t->io_args[0] = a[0];
    t->io_args[1] = a[1];
    dh_snapshot_unprotect((uintptr_t)a[0], (size_t)a[1] * sizeof(struct pollfd));
    long n = poll_now((struct pollfd *)a[0], a[1]);
    if (n != 0 || timeout == 0 || wait_for((void *)a[0], timeout, when_polled))
        return n;
    return poll_now((struct pollfd *)a[0], a[1]);
}

/* ---- select ---- */

struct sets {
    fd_set of[3];
};

/* The caller's sets may be smaller than fd_set. */
static size_t bytes_of(long n)
{
    return (size_t)(n + 63) / 64 * 8;
}

static long select_now(const struct dh_task *t, struct sets *out)
{
    struct timespec none = {0, 0};
    for (unsigned i = 0; i < 3; i++)
        if (t->io_args[1 + i])
            dh_bytes_copy(&out->of[i], (const void *)t->io_args[1 + i], bytes_of(t->io_args[0]));
    return dh_kernel_call(SYS_pselect6, t->io_args[0], t->io_args[1] ? (long)&out->of[0] : 0,
                          t->io_args[2] ? (long)&out->of[1] : 0, t->io_args[3] ? (long)&out->of[2] : 0, (long)&none, 0);
}

static uint32_t when_selected(const struct dh_task *t)
{
    struct sets s;
    return alternatives_if(t, select_now(t, &s) != 0);
}

static int64_t select_timeout(long number, long at)
{
    if (!at)
        return -1;
    if (number == SYS_pselect6)
        return nanoseconds((const struct timespec *)at);
    const struct timeval *v = (const struct timeval *)at;
    return (int64_t)v->tv_sec * 1000000000 + v->tv_usec * 1000;
}

long dh_wait_select(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    struct sets s;
    int64_t timeout = select_timeout(number, a[4]);
    if (a[0] < 0 || a[0] > FD_SETSIZE)
        return -EINVAL;
    for (unsigned i = 0; i < 4; i++)
        t->io_args[i] = a[i];
    long n = select_now(t, &s);
    if (n == 0 && timeout != 0 && !wait_for((void *)a[1], timeout, when_selected))
        n = select_now(t, &s);
    for (unsigned i = 0; n >= 0 && i < 3; i++)
        if (a[1 + i])
            dh_bytes_copy((void *)a[1 + i], &s.of[i], bytes_of(a[0]));
    return n;
}

/* ---- epoll ---- */

long dh_wait_epoll(long number, const long a[6])
{
    int64_t timeout = (int)a[3] < 0 ? -1 : (int64_t)(int)a[3] * 1000000;
    dh_snapshot_unprotect((uintptr_t)a[1], (size_t)a[2] * 12);
    long n = dh_kernel_call(number, a[0], a[1], a[2], 0, a[4], a[5]);
    if (n != 0 || timeout == 0 || wait_for((void *)(uintptr_t)(int)a[0], timeout, when_readable))
        return n;
    return dh_kernel_call(number, a[0], a[1], a[2], 0, a[4], a[5]);
}
