#include "runtime/engine/system/descriptors/descriptor.h"

#include "runtime/engine/restore/snapshot.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/files/file.h"
#include "runtime/engine/system/kernel_call.h"
#include "runtime/engine/system/signals/signal.h"
#include "runtime/engine/system/sockets/socket.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>

/* ---- pieces ---- */

typedef void copy_piece(char *piece, char *other, size_t n);

static void give_bytes(char *piece, char *other, size_t n)
{
    dh_bytes_copy(piece, other, n);
}

static void take_bytes(char *piece, char *other, size_t n)
{
    dh_bytes_copy(other, piece, n);
}

static void each_piece(const struct dh_transfer *t, size_t at, char *other, size_t n, copy_piece *copy)
{
    for (size_t i = 0; i < t->n && n; i++) {
        size_t length = t->pieces[i].iov_len;
        if (at >= length) {
            at -= length;
            continue;
        }
        size_t now = length - at < n ? length - at : n;
        copy((char *)t->pieces[i].iov_base + at, other, now);
        other += now;
        n -= now;
        at = 0;
    }
}

void dh_transfer_give(const struct dh_transfer *t, size_t at, const void *from, size_t n)
{
    each_piece(t, at, (char *)(uintptr_t)from, n, give_bytes);
}

void dh_transfer_take(const struct dh_transfer *t, size_t at, void *to, size_t n)
{
    each_piece(t, at, to, n, take_bytes);
}

/* ---- moving bytes ---- */

enum { FD, WRITES, SIZE, BLOCKS }; /* io_args of the task */

static uint32_t when_movable(const struct dh_task *t)
{
    const struct dh_description *d = t->io_args[FD] < 0 ? t->io_on : dh_description_of(t->io_args[FD]);
    if (t->io_held)
        return DH_IO_CLOSED;
    uint32_t wanted = (t->io_args[WRITES] ? POLLOUT : POLLIN) | POLLERR | POLLHUP | POLLNVAL;
    bool ready = !d || d->ops->poll(d, (size_t)t->io_args[SIZE]) & wanted;
    if (d && t->io_args[BLOCKS] && !(d->flags & O_NONBLOCK))
        return dh_io_alternatives(t, ready, t->io_args[WRITES] ? DH_NEVER : dh_description_due(d));
    dh_engine->actors[t->index].yields = !ready && dh_task_step(t)->occurrence;
    return 1;
}

static bool may_block(const struct dh_description *d, const struct dh_transfer *t)
{
    return !(d->flags & O_NONBLOCK) && !(t->flags & MSG_DONTWAIT);
}

static uint64_t due_of_read(const struct dh_task *t)
{
    return dh_description_due(dh_description_of(t->io_args[FD]));
}

/* False: it timed out. */
static bool await_move(struct dh_description *d, long fd, const struct dh_transfer *t, bool writes)
{
    struct dh_task *self = dh_engine_self();
    bool blocks = may_block(d, t);
    uint64_t limit = writes ? d->send_timeout_ns : d->receive_timeout_ns;
    self->io_args[FD] = fd;
    self->io_args[WRITES] = writes;
    self->io_args[SIZE] = (long)(t->size - t->done);
    self->io_args[BLOCKS] = blocks;
    struct dh_io io = {.object = d->object,
                       .fd = (int)fd,
                       .flags = (uint16_t)((writes ? DH_STEP_WRITES : DH_STEP_READS) | (blocks ? 0 : DH_STEP_TRY)),
                       .touch = DH_IO_CHANGES,
                       .alternatives = when_movable,
                       .timeout_ns = blocks ? (int64_t)limit : 0,
                       .due = writes ? NULL : due_of_read,
                       .on = d};
    return dh_io_step(&io) || !dh_io_timed_out();
}

static void broken_pipe(const struct dh_transfer *t)
{
    if (!(t->flags & MSG_NOSIGNAL))
        dh_signals_send(dh_engine_self(), SIGPIPE, NULL);
}

/* What was moved so far counts more than what stopped it. */
static long moved(const struct dh_transfer *t, long result)
{
    return t->done ? (long)t->done : result;
}

/* Does the call go on after so much? */
static bool wants_more(const struct dh_description *d, const struct dh_transfer *t, bool writes)
{
    return t->done < t->size && may_block(d, t) && (writes || t->flags & MSG_WAITALL);
}

static bool is_open_for(const struct dh_description *d, bool writes)
{
    return (d->flags & O_ACCMODE) != (writes ? O_RDONLY : O_WRONLY);
}

/* `held`: the description that it goes on at since the number was closed. */
static long move_all(long fd, struct dh_transfer *t, bool writes, struct dh_description **held)
{
    for (;;) {
        struct dh_description *d = *held ? *held : dh_description_of(fd);
        if (!d)
            return moved(t, -EBADF);
        long (*perform)(struct dh_description *, const struct dh_transfer *) = writes ? d->ops->write : d->ops->read;
        if (!perform)
            return is_open_for(d, writes) ? -EINVAL : -EBADF;
        if (!await_move(d, *held ? -1 : fd, t, writes))
            return moved(t, -EAGAIN);
        if (dh_io_was_closed(d, held))
            continue;
        if (!*held && dh_description_of(fd) != d) { /* closed meanwhile, perhaps opened again */
            dh_io_failed();
            continue;
        }
        long result = perform(d, t);
        if (result < 0)
            dh_io_failed();
        if (result == -EPIPE)
            broken_pipe(t);
        if (result == -EAGAIN && may_block(d, t)) {
            if (dh_io_was_interrupted())
                return moved(t, -EINTR);
            continue;
        }
        if (result <= 0)
            return moved(t, result);
        t->done += (size_t)result;
        if (!wants_more(d, t, writes))
            return (long)t->done;
    }
}

long dh_descriptor_move(long fd, struct dh_transfer *t, bool writes)
{
    struct dh_description *held = NULL;
    long result = move_all(fd, t, writes, &held);
    if (held)
        dh_description_drop(held);
    return result;
}

/* The number refers to a file now. */
static bool became_file(long fd, long result)
{
    return result == -EBADF && !dh_description_of(fd) && dh_files_is_open(fd);
}

static size_t size_of(const struct iovec *pieces, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += pieces[i].iov_len;
    return size;
}

/* The arguments of a call as one transfer; `piece` and `message` are room for it. */
static struct dh_transfer transfer_of(long number, const long a[6], struct iovec *piece, struct msghdr *message)
{
    struct dh_transfer t = {.pieces = piece, .n = 1};
    *piece = (struct iovec){(void *)a[1], (size_t)a[2]};
    if (number == SYS_readv || number == SYS_writev) {
        t.pieces = (const struct iovec *)a[1];
        t.n = (size_t)a[2];
    } else if (number == SYS_recvmsg || number == SYS_sendmsg) {
        t.message = (struct msghdr *)a[1];
        t.pieces = t.message->msg_iov;
        t.n = t.message->msg_iovlen;
        t.flags = (int)a[2];
    } else if (number == SYS_recvfrom || number == SYS_sendto) {
        t.flags = (int)a[3];
        *message = (struct msghdr){.msg_name = (void *)a[4],
                                   .msg_namelen = number == SYS_sendto ? (socklen_t)a[5]
                                                  : a[4] && a[5]       ? *(socklen_t *)a[5]
                                                                       : 0};
        t.message = message;
    }
    t.size = size_of(t.pieces, t.n);
    return t;
}

static bool is_for_sockets(long number)
{
    return number == SYS_recvfrom || number == SYS_recvmsg || number == SYS_sendto || number == SYS_sendmsg;
}

static bool is_wrong_kind(long number, long fd)
{
    return is_for_sockets(number) && !dh_description_of(fd)->ops->outside && !dh_socket_is(fd);
}

long dh_descriptor_read(long number, const long a[6])
{
    struct iovec piece;
    struct msghdr message;
    if (!dh_description_of(a[0]))
        return dh_files_read(number, a);
    if (is_wrong_kind(number, a[0]))
        return -ENOTSOCK;
    dh_outside_before_input(dh_description_of(a[0]));
    struct dh_transfer t = transfer_of(number, a, &piece, &message);
    if (!t.size && !t.message)
        return 0;
    long result = dh_descriptor_move(a[0], &t, false);
    if (became_file(a[0], result))
        return dh_files_read(number, a);
    if (result >= 0 && number == SYS_recvfrom && a[4] && a[5])
        *(socklen_t *)a[5] = message.msg_namelen;
    return result;
}

long dh_descriptor_write(long number, const long a[6])
{
    struct iovec piece;
    struct msghdr message;
    if (!dh_description_of(a[0]))
        return dh_files_write(number, a);
    if (is_wrong_kind(number, a[0]))
        return -ENOTSOCK;
    struct dh_transfer t = transfer_of(number, a, &piece, &message);
    struct dh_description *d = dh_description_of(a[0]);
    dh_outside_before_output(d);
    if (d->ops->outside) /* no step: what standard output is makes no difference to a schedule */
        return is_open_for(d, true) ? d->ops->write(d, &t) : -EBADF;
    long result = dh_descriptor_move(a[0], &t, true);
    return became_file(a[0], result) ? dh_files_write(number, a) : result;
}

/* ---- numbers ---- */

static const void *object_of(long fd)
{
    const struct dh_description *d = dh_description_of(fd);
    return d ? d->object : NULL;
}

long dh_descriptor_close(long number, const long a[6])
{
    if (!dh_files_is_open(a[0]))
        return -EBADF;
    dh_io_step_numbers(object_of(a[0]), (int)a[0]);
    dh_description_forget(a[0]);
    return dh_files_close(number, a);
}

long dh_descriptor_dup(long number, const long a[6])
{
    bool anywhere = number == SYS_dup;
    dh_io_step_numbers(anywhere ? NULL : object_of(a[1]), anywhere ? -1 : (int)a[1]);
    if (dh_description_of(a[0]))
        return dh_description_duplicate(a[0], anywhere ? -1 : a[1], 0, number == SYS_dup3 && a[2] & O_CLOEXEC);
    long result = dh_files_dup(number, a);
    if (result >= 0 && !anywhere && a[0] != a[1])
        dh_description_forget(a[1]);
    return result;
}

long dh_descriptor_fcntl(long number, const long a[6])
{
    const long settable = O_NONBLOCK | O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME;
    bool duplicates = a[1] == F_DUPFD || a[1] == F_DUPFD_CLOEXEC;
    if (duplicates)
        dh_io_step_numbers(NULL, -1);
    struct dh_description *d = dh_description_of(a[0]);
    if (!d)
        return dh_files_fcntl(number, a);
    if (duplicates)
        return dh_description_duplicate(a[0], -1, a[2], a[1] == F_DUPFD_CLOEXEC);
    if (a[1] == F_GETFL)
        return (long)d->flags;
    if (a[1] == F_SETFL) {
        d->flags = (uint32_t)((d->flags & ~settable) | (a[2] & settable));
        return 0;
    }
    if (a[1] == F_GETFD || a[1] == F_SETFD)
        return dh_syscalls_pass_through(number, a);
    return d->ops->control ? d->ops->control(d, (unsigned long)a[1], a[2]) : -EINVAL;
}

long dh_descriptor_ioctl(long number, const long a[6])
{
    struct dh_description *d = dh_description_of(a[0]);
    unsigned long request = (unsigned long)a[1];
    if (!d)
        return dh_files_ioctl(number, a);
    if (request == FIONBIO) {
        d->flags = (d->flags & ~(uint32_t)O_NONBLOCK) | (*(const int *)a[2] ? O_NONBLOCK : 0);
        return 0;
    }
    if (request == FIOCLEX || request == FIONCLEX)
        return dh_syscalls_pass_through(number, a);
    dh_io_step_on(d->object, (int)a[0], false);
    return d->ops->control ? d->ops->control(d, request, a[2]) : -ENOTTY;
}

enum { CLOEXEC_ONLY = 1 << 2 /* CLOSE_RANGE_CLOEXEC */ };

/* The engine's own are above OWN_DESCRIPTORS and stay. */
long dh_descriptor_close_range(long number, const long a[6])
{
    enum { OWN_DESCRIPTORS = 700 };
    unsigned long last = (unsigned)a[1];
    if (a[2] & ~CLOEXEC_ONLY || (unsigned)a[0] > last)
        return (unsigned)a[0] > last ? -EINVAL : dh_syscalls_cannot(number);
    for (long fd = (unsigned)a[0]; fd < OWN_DESCRIPTORS && (unsigned long)fd <= last; fd++) {
        if (!dh_files_is_open(fd))
            continue;
        if (a[2] & CLOEXEC_ONLY)
            dh_kernel_call(SYS_fcntl, fd, F_SETFD, FD_CLOEXEC, 0, 0, 0);
        else
            dh_descriptor_close(SYS_close, (const long[6]){fd});
    }
    return 0;
}

/* The kernel moves between files; with a model at an end it is refused. */
long dh_descriptor_splice(long number, const long a[6])
{
    (void)a;
    dh_syscalls_never(number);
}
