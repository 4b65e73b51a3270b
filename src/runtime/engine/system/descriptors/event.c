#include "runtime/engine/system/descriptors/event.h"

#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/select.h>

int64_t dh_event_ms(long ms)
{
    return (int)ms < 0 ? -1 : (int64_t)(int)ms * 1000000;
}

int64_t dh_event_ns(const struct timespec *t)
{
    return t ? (int64_t)t->tv_sec * 1000000000 + t->tv_nsec : -1;
}

/* It gives way if it came here before and there is still nothing. */
static void note_vain_look(long n)
{
    struct dh_task *t = dh_engine_self();
    if (n == 0 && dh_task_step(t)->occurrence)
        dh_engine->actors[t->index].yields = 1;
}

static long look_for_events(const struct dh_event_wait *w)
{
    struct dh_io io = w->io;
    io.alternatives = NULL;
    dh_io_step(&io);
    long n = w->collect(dh_engine_self(), true);
    if (n <= 0)
        dh_io_failed();
    note_vain_look(n);
    return n;
}

long dh_event_await(const struct dh_event_wait *w)
{
    struct dh_io io = w->io;
    io.never_restarts = true;
    uint64_t end = w->timeout_ns < 0 ? DH_NEVER : dh_engine->now_ns + (uint64_t)w->timeout_ns;
    if (w->timeout_ns == 0)
        return look_for_events(w);
    for (;;) {
        io.timeout_ns = end == DH_NEVER ? 0 : end > dh_engine->now_ns ? (int64_t)(end - dh_engine->now_ns) : 1;
        bool chosen = dh_io_step(&io);
        bool passed = !chosen && dh_io_timed_out();
        if (passed || w->collect(dh_engine_self(), false))
            return w->collect(dh_engine_self(), true);
        dh_io_failed();
        if (chosen && dh_io_was_interrupted())
            return -EINTR;
    }
}

/* ---- one descriptor ---- */

/* Files are always ready. */
static uint32_t events_of(long fd, uint32_t wanted)
{
    const struct dh_description *d = dh_description_of(fd);
    if (d)
        return d->ops->poll(d, PIPE_BUF) & (wanted | POLLERR | POLLHUP);
    return dh_files_is_open(fd) ? wanted & (POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM) : POLLNVAL;
}

static void acquire(long fd)
{
    const struct dh_description *d = dh_description_of(fd);
    if (d)
        dh_io_acquire(d->object);
}

/* Of a single descriptor the object is known; of several what any of them becomes is watched. */
static struct dh_io watch(long only)
{
    const struct dh_description *d = only < 0 ? NULL : dh_description_of(only);
    return d ? (struct dh_io){.object = d->object, .fd = (int)only, .flags = DH_STEP_READS | DH_STEP_SHARED}
             : (struct dh_io){.fd = -1, .flags = DH_STEP_READS | DH_STEP_SHARED, .touch = DH_IO_WATCHES};
}

/* ---- poll ---- */

static long collect_polled(const struct dh_task *t, bool report)
{
    struct pollfd *p = (struct pollfd *)t->io_args[0];
    long found = 0;
    for (long i = 0; i < t->io_args[1]; i++) {
        uint32_t events = p[i].fd < 0 ? 0 : events_of(p[i].fd, (uint16_t)p[i].events);
        found += events != 0;
        if (report) {
            p[i].revents = (short)events;
            if (events)
                acquire(p[i].fd);
        } else if (found)
            return found;
    }
    return found;
}

static uint64_t due_of_polled(const struct dh_task *t)
{
    const struct pollfd *p = (const struct pollfd *)t->io_args[0];
    uint64_t due = DH_NEVER;
    for (long i = 0; i < t->io_args[1]; i++) {
        uint64_t one =
            p[i].fd < 0 || !(p[i].events & POLLIN) ? DH_NEVER : dh_description_due(dh_description_of(p[i].fd));
        due = one < due ? one : due;
    }
    return due;
}

static bool polls_outside(const struct dh_task *t)
{
    const struct pollfd *p = (const struct pollfd *)t->io_args[0];
    for (long i = 0; i < t->io_args[1]; i++)
        if (p[i].fd >= 0 && dh_description_waits_for_outside(dh_description_of(p[i].fd)))
            return true;
    return false;
}

static uint32_t when_polled(const struct dh_task *t)
{
    return dh_io_alternatives(t, collect_polled(t, false) != 0, due_of_polled(t));
}

long dh_event_poll(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    const struct pollfd *p = (const struct pollfd *)a[0];
    t->io_args[0] = a[0];
    t->io_args[1] = (long)(unsigned)a[1];
    struct dh_event_wait w = {.io = watch(a[1] == 1 ? p->fd : -1),
                              .timeout_ns =
                                  number == SYS_ppoll ? dh_event_ns((const struct timespec *)a[2]) : dh_event_ms(a[2]),
                              .collect = collect_polled};
    w.io.alternatives = when_polled;
    w.io.due = due_of_polled;
    w.io.outside = polls_outside;
    return dh_event_await(&w);
}

/* ---- select ---- */

enum { SETS = 3, BITS = 64 };
static const uint32_t set_events[SETS] = {POLLIN | POLLRDNORM | POLLHUP | POLLERR, POLLOUT | POLLWRNORM | POLLERR,
                                          POLLPRI};

/* The caller's sets may be smaller than fd_set. */
static bool is_in(long set, long fd)
{
    return set && ((const uint64_t *)set)[fd / BITS] >> fd % BITS & 1;
}

static uint32_t selected(const struct dh_task *t, long fd, unsigned set)
{
    return is_in(t->io_args[1 + set], fd) ? events_of(fd, set_events[set]) & (set_events[set] | POLLNVAL) : 0;
}

static void report_selected(const struct dh_task *t, long fd, unsigned set, bool is_ready)
{
    uint64_t *word = (uint64_t *)t->io_args[1 + set] + fd / BITS, bit = 1ull << fd % BITS;
    *word = is_ready ? *word | bit : *word & ~bit;
    if (is_ready)
        acquire(fd);
}

static long collect_selected(const struct dh_task *t, bool report)
{
    long found = 0;
    for (long fd = 0; fd < t->io_args[0]; fd++)
        for (unsigned i = 0; i < SETS; i++)
            found += selected(t, fd, i) != 0;
    for (long fd = 0; report && fd < t->io_args[0]; fd++)
        for (unsigned i = 0; i < SETS; i++)
            if (is_in(t->io_args[1 + i], fd))
                report_selected(t, fd, i, selected(t, fd, i));
    return found;
}

static uint64_t due_of_selected(const struct dh_task *t)
{
    uint64_t due = DH_NEVER;
    for (long fd = 0; fd < t->io_args[0]; fd++) {
        uint64_t one = is_in(t->io_args[1], fd) ? dh_description_due(dh_description_of(fd)) : DH_NEVER;
        due = one < due ? one : due;
    }
    return due;
}

static bool selects_outside(const struct dh_task *t)
{
    for (long fd = 0; fd < t->io_args[0]; fd++)
        if (is_in(t->io_args[1], fd) && dh_description_waits_for_outside(dh_description_of(fd)))
            return true;
    return false;
}

static uint32_t when_selected(const struct dh_task *t)
{
    return dh_io_alternatives(t, collect_selected(t, false) != 0, due_of_selected(t));
}

static int64_t select_timeout(long number, long at)
{
    if (!at || number == SYS_pselect6)
        return dh_event_ns((const struct timespec *)at);
    const struct timeval *v = (const struct timeval *)at;
    return (int64_t)v->tv_sec * 1000000000 + v->tv_usec * 1000;
}

static bool is_any_closed(const struct dh_task *t)
{
    for (long fd = 0; fd < t->io_args[0]; fd++)
        for (unsigned i = 0; i < SETS; i++)
            if (is_in(t->io_args[1 + i], fd) && !dh_description_of(fd) && !dh_files_is_open(fd))
                return true;
    return false;
}

/* A timeout leaves empty sets. */
long dh_event_select(long number, const long a[6])
{
    struct dh_task *t = dh_engine_self();
    if (a[0] < 0 || a[0] > FD_SETSIZE)
        return -EINVAL;
    for (unsigned i = 0; i < 4; i++)
        t->io_args[i] = a[i];
    if (is_any_closed(t))
        return -EBADF;
    struct dh_event_wait w = {.io = watch(-1), .timeout_ns = select_timeout(number, a[4]), .collect = collect_selected};
    w.io.alternatives = when_selected;
    w.io.due = due_of_selected;
    w.io.outside = selects_outside;
    return dh_event_await(&w);
}
