#include "runtime/engine/system/descriptors/for_real.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
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

static void wait_for(long fd, unsigned touch, int64_t timeout_ns, dh_engine_alternatives *alternatives)
{
    struct dh_io io = {.object = fd < 0 ? NULL : (void *)(fd + 1),
                       .fd = (int)fd,
                       .flags = DH_STEP_READS,
                       .touch = (uint8_t)touch,
                       .alternatives = timeout_ns ? alternatives : NULL,
                       .timeout_ns = timeout_ns,
                       .never_restarts = touch & DH_IO_WATCHES};
    dh_io_step(&io);
}

/* ---- read and write ---- */

static uint32_t when(const struct dh_task *t, short events)
{
    struct pollfd p = {(int)t->io_args[0], events, 0};
    bool blocks = !(dh_kernel_call(SYS_fcntl, p.fd, F_GETFL, 0, 0, 0, 0) & O_NONBLOCK);
    return blocks ? dh_io_alternatives(t, poll_now(&p, 1) != 0, DH_NEVER) : 1;
}

static uint32_t when_readable(const struct dh_task *t)
{
    return when(t, POLLIN);
}

static uint32_t when_writable(const struct dh_task *t)
{
    return when(t, POLLOUT);
}

long dh_for_real_read(long number, const long a[6])
{
    dh_engine_self()->io_args[0] = a[0];
    wait_for(a[0], DH_IO_CHANGES, -1, when_readable);
    return dh_io_was_interrupted() ? -EINTR : dh_syscalls_pass_through(number, a);
}

/* Output is no step, as in a search. */
long dh_for_real_write(long number, const long a[6])
{
    if (a[0] == 1 || a[0] == 2)
        return dh_syscalls_pass_through(number, a);
    dh_engine_self()->io_args[0] = a[0];
    wait_for(a[0], DH_IO_CHANGES, -1, when_writable);
    return dh_io_was_interrupted() ? -EINTR : dh_syscalls_pass_through(number, a);
}

long dh_for_real_step(long number, const long a[6])
{
    wait_for(a[0], DH_IO_CHANGES, 0, NULL);
    return dh_syscalls_pass_through(number, a);
}

long dh_for_real_numbers(long number, const long a[6])
{
    dh_io_step_numbers(NULL, -1);
    return dh_syscalls_pass_through(number, a);
}

/* ---- poll ---- */

static uint32_t when_polled(const struct dh_task *t)
{
    return dh_io_alternatives(t, poll_now((struct pollfd *)t->io_args[0], t->io_args[1]) != 0, DH_NEVER);
}

static int64_t nanoseconds(const struct timespec *t)
{
    return t ? (int64_t)t->tv_sec * 1000000000 + t->tv_nsec : -1;
}

long dh_for_real_poll(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    int64_t timeout = number == SYS_ppoll ? nanoseconds((const struct timespec *)a[2])
                      : (int)a[2] < 0     ? -1
                                          : (int64_t)(int)a[2] * 1000000;
    t->io_args[0] = a[0];
    t->io_args[1] = a[1];
    dh_snapshot_unprotect((uintptr_t)a[0], (size_t)a[1] * sizeof(struct pollfd));
    wait_for(-1, DH_IO_WATCHES, timeout, when_polled);
    long n = poll_now((struct pollfd *)a[0], a[1]);
    return n == 0 && dh_io_was_interrupted() ? -EINTR : n;
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
    return dh_io_alternatives(t, select_now(t, &s) != 0, DH_NEVER);
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

long dh_for_real_select(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    struct sets s;
    int64_t timeout = select_timeout(number, a[4]);
    if (a[0] < 0 || a[0] > FD_SETSIZE)
        return -EINVAL;
    for (unsigned i = 0; i < 4; i++)
        t->io_args[i] = a[i];
    wait_for(-1, DH_IO_WATCHES, timeout, when_selected);
    long n = select_now(t, &s);
    if (n == 0 && dh_io_was_interrupted())
        return -EINTR;
    for (unsigned i = 0; n >= 0 && i < 3; i++)
        if (a[1 + i])
            dh_bytes_copy((void *)a[1 + i], &s.of[i], bytes_of(a[0]));
    return n;
}

/* ---- epoll ---- */

long dh_for_real_epoll(long number, const long a[6])
{
    int64_t timeout = number == SYS_epoll_pwait2 ? nanoseconds((const struct timespec *)a[3])
                      : (int)a[3] < 0            ? -1
                                                 : (int64_t)(int)a[3] * 1000000;
    dh_snapshot_unprotect((uintptr_t)a[1], (size_t)a[2] * 12);
    dh_engine_self()->io_args[0] = a[0];
    wait_for(a[0], DH_IO_WATCHES, timeout, when_readable);
    long n = dh_kernel_call(SYS_epoll_wait, a[0], a[1], a[2], 0, 0, 0);
    return n == 0 && dh_io_was_interrupted() ? -EINTR : n;
}
