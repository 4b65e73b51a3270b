/* eventfd. */
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/platform/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

struct counter {
    uint64_t count;
    bool semaphore;
};
#define MOST (UINT64_MAX - 1)

static long read_count(struct dh_description *d, const struct dh_transfer *t)
{
    struct counter *c = d->state;
    if (t->size < sizeof c->count)
        return -EINVAL;
    if (!c->count)
        return -EAGAIN;
    uint64_t taken = c->semaphore ? 1 : c->count;
    c->count -= taken;
    dh_transfer_give(t, 0, &taken, sizeof taken);
    dh_description_output(d);
    return sizeof taken;
}

static long add_count(struct dh_description *d, const struct dh_transfer *t)
{
    struct counter *c = d->state;
    uint64_t added;
    if (t->size < sizeof added)
        return -EINVAL;
    dh_transfer_take(t, 0, &added, sizeof added);
    if (added == UINT64_MAX)
        return -EINVAL;
    if (added > MOST - c->count)
        return -EAGAIN;
    c->count += added;
    dh_description_input(d);
    return sizeof added;
}

static uint32_t poll_count(const struct dh_description *d, size_t size)
{
    const struct counter *c = d->state;
    (void)size;
    return (c->count ? POLLIN | POLLRDNORM : 0) | (c->count < MOST ? POLLOUT | POLLWRNORM : 0);
}

static void release(struct dh_description *d)
{
    dh_model_free(d->state, sizeof(struct counter));
}

static const struct dh_description_ops ops = {
    .name = "eventfd", .read = read_count, .write = add_count, .poll = poll_count, .release = release};

static struct counter *new_counter(uint64_t count, bool semaphore)
{
    struct counter *c = dh_model_alloc(sizeof *c);
    *c = (struct counter){count, semaphore};
    return c;
}

long dh_eventfd_make(long number, const long a[6])
{
    unsigned flags = number == SYS_eventfd2 ? (unsigned)a[1] : 0;
    dh_io_step_numbers(NULL, -1);
    struct counter *c = new_counter((unsigned)a[0], flags & EFD_SEMAPHORE);
    long fd = dh_description_open(&ops, c, O_RDWR | (flags & O_NONBLOCK), flags & O_CLOEXEC, NULL);
    if (fd < 0)
        dh_model_free(c, sizeof *c);
    return fd;
}

void dh_eventfd_take_over(long fd, uint64_t count, bool semaphore, unsigned flags)
{
    dh_description_take_over(fd, &ops, new_counter(count, semaphore), flags);
}
