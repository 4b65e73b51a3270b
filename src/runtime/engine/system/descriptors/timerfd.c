/* timerfd, on virtual time: a thread may be arbitrarily slow, so that an armed timer may expire whenever somebody waits
 * for it, and time passes then. */
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/descriptors/models.h"
#include "runtime/engine/system/time/time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/timerfd.h>

struct timer {
    clockid_t clock;
    bool armed;
    uint64_t due_ns, interval_ns; /* virtual time */
};

static bool has_expired(const struct timer *t)
{
    return t->armed && t->due_ns <= dh_engine->now_ns;
}

static uint64_t take_expirations(struct timer *t)
{
    uint64_t n = 1;
    if (t->interval_ns) {
        n += (dh_engine->now_ns - t->due_ns) / t->interval_ns;
        t->due_ns += n * t->interval_ns;
    } else
        t->armed = false;
    return n;
}

static long read_timer(struct dh_description *d, const struct dh_transfer *t)
{
    struct timer *timer = d->state;
    if (t->size < sizeof(uint64_t))
        return -EINVAL;
    if (!has_expired(timer))
        return -EAGAIN;
    uint64_t n = take_expirations(timer);
    dh_transfer_give(t, 0, &n, sizeof n);
    return sizeof n;
}

static uint32_t poll_timer(const struct dh_description *d, size_t size)
{
    (void)size;
    return has_expired(d->state) ? POLLIN | POLLRDNORM : 0;
}

static uint64_t due(const struct dh_description *d)
{
    const struct timer *t = d->state;
    return t->armed ? t->due_ns : DH_NEVER;
}

static void release(struct dh_description *d)
{
    dh_model_free(d->state, sizeof(struct timer));
}

static const struct dh_description_ops ops = {
    .name = "timerfd", .read = read_timer, .poll = poll_timer, .due = due, .release = release};

static struct timer *timer_of(long fd)
{
    const struct dh_description *d = dh_description_of(fd);
    return d && d->ops == &ops ? d->state : NULL;
}

long dh_timerfd_make(long number, const long a[6])
{
    (void)number;
    dh_io_step_numbers(NULL, -1);
    struct timer *t = dh_model_alloc(sizeof *t);
    t->clock = (clockid_t)a[0];
    long fd = dh_description_open(&ops, t, O_RDWR | (a[1] & O_NONBLOCK), a[1] & O_CLOEXEC, NULL);
    if (fd < 0)
        dh_model_free(t, sizeof *t);
    return fd;
}

void dh_timerfd_take_over(long fd, int clock, uint64_t left_ns, uint64_t interval_ns, unsigned flags)
{
    struct timer *t = dh_model_alloc(sizeof *t);
    *t = (struct timer){clock, left_ns != 0, dh_engine->now_ns + left_ns, interval_ns};
    dh_description_take_over(fd, &ops, t, flags);
}

static uint64_t ns_of(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static void write_time(const struct timer *t, struct itimerspec *out)
{
    uint64_t left = !t->armed ? 0 : t->due_ns > dh_engine->now_ns ? t->due_ns - dh_engine->now_ns : 1;
    *out = (struct itimerspec){timespec_of(t->interval_ns), timespec_of(left)};
}

long dh_timerfd_set(long number, const long a[6])
{
    const struct itimerspec *to = (const struct itimerspec *)a[2];
    (void)number;
    struct timer *t = timer_of(a[0]);
    if (!t)
        return dh_description_of(a[0]) ? -EINVAL : -EBADF;
    if (!dh_timespec_is_valid(&to->it_value) || !dh_timespec_is_valid(&to->it_interval))
        return -EINVAL;
    dh_io_step_on(dh_description_of(a[0])->object, (int)a[0], true);
    if (!(t = timer_of(a[0])))
        return -EBADF;
    if (a[3])
        write_time(t, (struct itimerspec *)a[3]);
    t->armed = to->it_value.tv_sec || to->it_value.tv_nsec;
    t->interval_ns = ns_of(&to->it_interval);
    t->due_ns = a[1] & TFD_TIMER_ABSTIME ? dh_virtual_time_of(t->clock, &to->it_value)
                                         : dh_engine->now_ns + ns_of(&to->it_value);
    dh_description_input(dh_description_of(a[0]));
    return 0;
}

long dh_timerfd_get(long number, const long a[6])
{
    (void)number;
    const struct timer *t = timer_of(a[0]);
    if (!t)
        return dh_description_of(a[0]) ? -EINVAL : -EBADF;
    dh_io_step_on(dh_description_of(a[0])->object, (int)a[0], false);
    if (!(t = timer_of(a[0])))
        return -EBADF;
    write_time(t, (struct itimerspec *)a[1]);
    return 0;
}
