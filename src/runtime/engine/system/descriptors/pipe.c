/* Pipes. */
#include "runtime/engine/processes/children.h"
#include "runtime/engine/system/descriptors/byte_queue.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/syscalls.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>

enum { CAPACITY = 65536 };

struct dh_pipe {
    struct dh_byte_queue bytes;
    size_t capacity;
    struct dh_description *reader, *writer; /* NULL: closed */
    uint32_t readers, writers;              /* descriptions of each end: taken over ones may be several */
    uint32_t child_readers, child_writers;  /* of them those that child processes have */
    bool from_child;                        /* one had the writing end */
};

static struct dh_pipe *pipe_of(const struct dh_description *d)
{
    return d->state;
}

static long read_pipe(struct dh_description *d, const struct dh_transfer *t)
{
    struct dh_pipe *p = pipe_of(d);
    size_t left = t->size - t->done, n = p->bytes.n < left ? p->bytes.n : left;
    if (!p->bytes.n && p->writers)
        return -EAGAIN;
    if (p->from_child)
        dh_io_acquire(dh_forked_table());
    if (!p->bytes.n)
        return 0;
    dh_byte_queue_peek(&p->bytes, 0, t, t->done, n);
    dh_byte_queue_drop(&p->bytes, n);
    if (p->writer)
        dh_description_output(p->writer);
    return (long)n;
}

/* Up to PIPE_BUF bytes are written whole or not at all. */
static bool has_room(const struct dh_pipe *p, size_t size)
{
    size_t room = p->capacity - p->bytes.n;
    return size <= PIPE_BUF ? room >= size : room > 0;
}

static long write_pipe(struct dh_description *d, const struct dh_transfer *t)
{
    struct dh_pipe *p = pipe_of(d);
    size_t left = t->size - t->done, room = p->capacity - p->bytes.n, n = room < left ? room : left;
    if (!p->readers)
        return -EPIPE;
    if (!has_room(p, t->done ? PIPE_BUF + 1 : t->size))
        return -EAGAIN;
    dh_byte_queue_put(&p->bytes, t, t->done, n);
    if (p->reader)
        dh_description_input(p->reader);
    if (p->child_readers) {
        dh_io_release(dh_forked_table());
        dh_children_channel_changed(p);
    }
    return (long)n;
}

static uint32_t poll_reader(const struct dh_description *d, size_t size)
{
    const struct dh_pipe *p = pipe_of(d);
    (void)size;
    return (p->bytes.n ? POLLIN | POLLRDNORM : 0) | (p->writers ? 0 : POLLHUP);
}

static uint32_t poll_writer(const struct dh_description *d, size_t size)
{
    const struct dh_pipe *p = pipe_of(d);
    return (has_room(p, size) ? POLLOUT | POLLWRNORM : 0) | (p->readers ? 0 : POLLERR);
}

static void free_if_closed(struct dh_pipe *p)
{
    if (p->readers || p->writers)
        return;
    dh_byte_queue_release(&p->bytes);
    dh_model_free(p, sizeof *p);
}

static void release_reader(struct dh_description *d)
{
    struct dh_pipe *p = pipe_of(d);
    if (p->reader == d)
        p->reader = NULL;
    if (!--p->readers && p->writer)
        dh_description_output(p->writer);
    if (p->child_readers) {
        dh_io_release(dh_forked_table());
        dh_children_channel_changed(p);
    }
    free_if_closed(p);
}

static void release_writer(struct dh_description *d)
{
    struct dh_pipe *p = pipe_of(d);
    if (p->writer == d)
        p->writer = NULL;
    if (!--p->writers && p->reader)
        dh_description_input(p->reader);
    if (p->child_readers) {
        dh_io_release(dh_forked_table());
        dh_children_channel_changed(p);
    }
    free_if_closed(p);
}

static long control(struct dh_description *d, unsigned long request, long argument)
{
    struct dh_pipe *p = pipe_of(d);
    if (request == FIONREAD)
        *(int *)argument = (int)p->bytes.n;
    else if (request == F_GETPIPE_SZ)
        return (long)p->capacity;
    else if (request == F_SETPIPE_SZ) {
        size_t wanted = ((size_t)argument + PIPE_BUF - 1) / PIPE_BUF * PIPE_BUF;
        if (wanted < p->bytes.n)
            return -EBUSY;
        return (long)(p->capacity = wanted);
    } else
        return request < 2048 ? -EINVAL : -ENOTTY;
    return 0;
}

static const struct dh_description_ops reading = {
    .name = "pipe", .read = read_pipe, .poll = poll_reader, .release = release_reader, .control = control};
static const struct dh_description_ops writing = {
    .name = "pipe", .write = write_pipe, .poll = poll_writer, .release = release_writer, .control = control};

struct dh_pipe *dh_pipe_new(size_t capacity)
{
    struct dh_pipe *p = dh_model_alloc(sizeof *p);
    p->capacity = capacity ? capacity : CAPACITY;
    return p;
}

static void join_end(struct dh_pipe *p, struct dh_description *d, bool writes)
{
    d->object = p;
    *(writes ? &p->writer : &p->reader) = d;
    (*(writes ? &p->writers : &p->readers))++;
}

void dh_pipe_take_over(struct dh_pipe *p, long fd, bool writes, unsigned flags)
{
    join_end(p, dh_description_take_over(fd, writes ? &writing : &reading, p, flags), writes);
}

void dh_pipe_fill(struct dh_pipe *p, const void *from, size_t n)
{
    dh_byte_queue_put_raw(&p->bytes, from, n);
    if (p->reader)
        dh_description_input(p->reader);
}

struct dh_pipe *dh_pipe_of(const struct dh_description *d, bool *writes)
{
    *writes = d->ops == &writing;
    return *writes || d->ops == &reading ? pipe_of(d) : NULL;
}

void dh_pipe_share(struct dh_pipe *p, int readers, int writers)
{
    p->readers += (uint32_t)readers;
    p->writers += (uint32_t)writers;
    p->child_readers += (uint32_t)readers;
    p->child_writers += (uint32_t)writers;
    p->from_child |= writers > 0;
    if (writers < 0 && !p->writers && p->reader)
        dh_description_input(p->reader);
    if (readers < 0 && !p->readers && p->writer)
        dh_description_output(p->writer);
    free_if_closed(p);
}

bool dh_pipe_own_readers(const struct dh_pipe *p)
{
    return p->readers > p->child_readers;
}

bool dh_pipe_own_writers(const struct dh_pipe *p)
{
    return p->writers > p->child_writers;
}

size_t dh_pipe_peek(const struct dh_pipe *p, void *to, size_t n)
{
    n = n < p->bytes.n ? n : p->bytes.n;
    dh_byte_queue_peek_raw(&p->bytes, 0, to, n);
    return n;
}

void dh_pipe_drop(struct dh_pipe *p, size_t n)
{
    dh_byte_queue_drop(&p->bytes, n);
    if (p->writer)
        dh_description_output(p->writer);
}

long dh_pipe_make(long number, const long a[6])
{
    int *ends = (int *)a[0];
    unsigned flags = number == SYS_pipe2 ? (unsigned)a[1] : 0;
    if (flags & O_DIRECT)
        return dh_syscalls_cannot(number);
    dh_io_step_numbers(NULL, -1);
    struct dh_pipe *p = dh_pipe_new(0);
    for (unsigned i = 0; i < 2; i++) {
        struct dh_description *d;
        long fd = dh_description_open(i ? &writing : &reading, p, (flags & O_NONBLOCK) | (i ? O_WRONLY : O_RDONLY),
                                      flags & O_CLOEXEC, &d);
        if (fd < 0) {
            if (i)
                dh_description_close(ends[0]);
            else
                dh_model_free(p, sizeof *p);
            return fd;
        }
        join_end(p, d, i);
        ends[i] = (int)fd;
    }
    return 0;
}
