/* Descriptors whose other end is not in this process: terminals, pipes and sockets to others. Output is thrown away, or
 * shown, as the job says; standard input is what is there when it is first read, the same in every schedule, and then
 * its end. Other input is refused, but in fresh processes, where what is read and written is real. */
#include "runtime/engine/processes/fresh_processes.h"
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

enum { PIECE = 65536, INPUT_MOST = 64 << 20, SOON_NS = 2000000, REPLAY_NS = 100000000, NUMBERS = 1024 };

/* In KEEP memory. */
static struct recording {
    char *at;
    size_t n, room;
    bool whole;
} *input;

struct outside {
    long fd; /* its first number */
    const char *name;
    size_t read;         /* of the recording */
    bool was_given_time; /* to become ready, since it was last */
};

static bool grow(void)
{
    size_t room = input->room ? input->room * 2 : PIECE;
    char *larger = room > INPUT_MOST ? NULL : dh_keep_alloc(room);
    if (!larger)
        return false;
    dh_bytes_copy(larger, input->at, input->n);
    input->at = larger;
    input->room = room;
    return true;
}

static bool is_input_there(long fd)
{
    struct pollfd p = {(int)fd, POLLIN, 0};
    struct timespec none = {0, 0};
    return dh_kernel_call(SYS_ppoll, (long)&p, 1, (long)&none, 0, 8, 0) > 0;
}

static void record_input(long fd)
{
    if (!input && !(input = dh_keep_alloc(sizeof *input)))
        dh_engine_cannot("no memory");
    while (!input->whole) {
        if (input->n == input->room && !grow())
            dh_engine_cannot("standard input is larger than can be kept");
        long n = is_input_there(fd) ? dh_kernel_call(SYS_read, fd, (long)(input->at + input->n),
                                                     (long)(input->room - input->n), 0, 0, 0)
                                    : 0;
        if (n <= 0)
            input->whole = true;
        else
            input->n += (size_t)n;
    }
}

static bool is_standard_input(const struct outside *o)
{
    return o->fd == 0;
}

void dh_outside_before_input(struct dh_description *d)
{
    const struct outside *o = d->state;
    if (!d->ops->outside || is_standard_input(o))
        return;
    char what[80];
    dh_syscalls_for_real();
    dh_print_text(what, sizeof what, "input from outside, descriptor %d, a %s,", (int)o->fd, o->name);
    dh_syscalls_never_do(what);
}

void dh_outside_before_output(struct dh_description *d)
{
    const struct outside *o = d->state;
    if (d->ops->outside && dh_fresh_processes_on() && o->fd != 1 && o->fd != 2)
        dh_syscalls_for_real();
}

static long read_outside(struct dh_description *d, const struct dh_transfer *t)
{
    struct outside *o = d->state;
    record_input(o->fd);
    size_t left = input->n - o->read, wanted = t->size - t->done, n = left < wanted ? left : wanted;
    dh_transfer_give(t, t->done, input->at + o->read, n);
    o->read += n;
    return (long)n;
}

static bool is_shown(const struct outside *o)
{
    return (o->fd == 1 || o->fd == 2) && dh_engine->flags & DH_ENGINE_OUTPUT;
}

static long write_outside(struct dh_description *d, const struct dh_transfer *t)
{
    const struct outside *o = d->state;
    if (!is_shown(o))
        return (long)(t->size - t->done);
    for (size_t i = 0; i < t->n; i++)
        dh_kernel_call(SYS_write, o->fd, (long)t->pieces[i].iov_base, (long)t->pieces[i].iov_len, 0, 0, 0);
    return (long)(t->size - t->done);
}

/* What comes soon counts as being there, so that a schedule depends less on the machine's load; a replay waits longer.
 */
static uint32_t poll_for_real(struct outside *o)
{
    bool replays = dh_engine->control->job.mode == DH_ENGINE_REPLAY;
    struct pollfd p = {(int)o->fd, POLLIN | POLLOUT | POLLPRI | POLLRDHUP, 0};
    struct timespec limit = {0, o->was_given_time ? 0 : replays ? REPLAY_NS : SOON_NS};
    struct pollfd awaited = {(int)o->fd, POLLIN, 0};
    dh_kernel_call(SYS_ppoll, (long)&awaited, 1, (long)&limit, 0, 8, 0);
    o->was_given_time = !awaited.revents;
    limit.tv_nsec = 0;
    dh_kernel_call(SYS_ppoll, (long)&p, 1, (long)&limit, 0, 8, 0);
    return (uint32_t)p.revents;
}

/* Nothing comes but on standard input, which ends; unless the outside is real. */
static uint32_t poll_outside(const struct dh_description *d, size_t size)
{
    struct outside *o = d->state;
    (void)size;
    if (dh_fresh_processes_on() && !is_standard_input(o))
        return poll_for_real(o);
    bool writes = (d->flags & O_ACCMODE) != O_RDONLY;
    return (is_standard_input(o) ? POLLIN | POLLRDNORM : 0) | (writes ? POLLOUT | POLLWRNORM : 0);
}

static bool waits_for_outside(const struct dh_description *d)
{
    return !is_standard_input(d->state);
}

static void release(struct dh_description *d)
{
    dh_model_free(d->state, sizeof(struct outside));
}

/* What asks about a terminal changes nothing. */
static long control(struct dh_description *d, unsigned long request, long argument)
{
    const struct outside *o = d->state;
    const long a[6] = {o->fd, (long)request, argument};
    if (request == TCGETS || request == TIOCGWINSZ || request == TIOCGPGRP || request == FIONREAD)
        return dh_syscalls_pass_through(SYS_ioctl, a);
    if (request == TCSETS || request == TCSETSW || request == TCSETSF)
        return 0;
    return request < 2048 ? -EINVAL : -ENOTTY;
}

static const struct dh_description_ops ops = {.name = "descriptor from outside",
                                              .read = read_outside,
                                              .write = write_outside,
                                              .poll = poll_outside,
                                              .waits_for_outside = waits_for_outside,
                                              .release = release,
                                              .control = control,
                                              .outside = true};

bool dh_outside_await(uint64_t limit_ns)
{
    struct pollfd all[64];
    struct timespec limit = {(time_t)(limit_ns / 1000000000), (long)(limit_ns % 1000000000)};
    long n = 0;
    for (long fd = 0; fd < NUMBERS && n < 64; fd++) {
        const struct dh_description *d = dh_description_of(fd);
        if (d && d->ops == &ops && !is_standard_input(d->state) && (d->flags & O_ACCMODE) != O_WRONLY)
            all[n++] = (struct pollfd){(int)fd, POLLIN, 0};
    }
    return n && dh_kernel_call(SYS_ppoll, (long)all, n, (long)&limit, 0, 8, 0) > 0;
}

void dh_outside_take_over(long fd, const char *name, unsigned flags)
{
    struct outside *o = dh_model_alloc(sizeof *o);
    *o = (struct outside){fd, name, 0, false};
    dh_description_take_over(fd, &ops, o, flags);
}
