#include "runtime/engine/system/descriptors/signalfd.h"

#include "runtime/engine/system/descriptors/description.h"
#include "runtime/engine/system/descriptors/descriptor.h"
#include "runtime/engine/system/descriptors/io_step.h"
#include "runtime/engine/system/signals/signal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>

enum { KNOWN = 32 };

/* For edge-triggered sets. */
static struct dh_description *known[KNOWN];

static uint64_t set_of(const struct dh_description *d)
{
    return *(const uint64_t *)d->state;
}

static struct signalfd_siginfo record_of(const siginfo_t *i)
{
    return (struct signalfd_siginfo){.ssi_signo = (uint32_t)i->si_signo,
                                     .ssi_errno = i->si_errno,
                                     .ssi_code = i->si_code,
                                     .ssi_pid = (uint32_t)i->si_pid,
                                     .ssi_uid = i->si_uid,
                                     .ssi_status = i->si_status,
                                     .ssi_int = i->si_value.sival_int,
                                     .ssi_ptr = (uint64_t)(uintptr_t)i->si_value.sival_ptr};
}

static long read_signals(struct dh_description *d, const struct dh_transfer *t)
{
    size_t done = 0;
    siginfo_t info;
    if (t->size < sizeof(struct signalfd_siginfo))
        return -EINVAL;
    while (t->size - done >= sizeof(struct signalfd_siginfo) &&
           dh_signals_dequeue(dh_engine_self(), set_of(d), &info)) {
        struct signalfd_siginfo record = record_of(&info);
        dh_transfer_give(t, done, &record, sizeof record);
        dh_signals_order_after(info.si_signo);
        done += sizeof record;
    }
    return done ? (long)done : -EAGAIN;
}

/* Those of the process, and of the task that asks. */
static uint32_t events_now(const struct dh_description *d, size_t size)
{
    const struct dh_task *t = dh_engine->current ? dh_engine->current : dh_engine->asking;
    (void)size;
    return t && dh_signals_possible(t) & set_of(d) ? POLLIN : 0;
}

static void release(struct dh_description *d)
{
    for (unsigned i = 0; i < KNOWN; i++)
        if (known[i] == d)
            known[i] = NULL;
    dh_model_free(d->state, sizeof(uint64_t));
}

static const struct dh_description_ops ops = {
    .name = "signalfd", .read = read_signals, .poll = events_now, .release = release};

static void remember(struct dh_description *d)
{
    for (unsigned i = 0; i < KNOWN; i++)
        if (!known[i]) {
            known[i] = d;
            return;
        }
}

void dh_signalfd_raised(int signal)
{
    for (unsigned i = 0; i < KNOWN; i++)
        if (known[i] && set_of(known[i]) & dh_signal_bit(signal))
            dh_description_input(known[i]);
}

long dh_signalfd(long number, const long a[6])
{
    unsigned flags = number == SYS_signalfd4 ? (unsigned)a[3] : 0;
    uint64_t set = *(const uint64_t *)a[1] & ~(dh_signal_bit(SIGKILL) | dh_signal_bit(SIGSTOP));
    struct dh_description *d = (int)a[0] >= 0 ? dh_description_of((int)a[0]) : NULL;
    dh_io_step_numbers(NULL, -1);
    if ((int)a[0] >= 0) {
        if (!d || d->ops != &ops)
            return -EINVAL;
        *(uint64_t *)d->state = set;
        return (int)a[0];
    }
    uint64_t *state = dh_model_alloc(sizeof *state);
    *state = set;
    long fd = dh_description_open(&ops, state, O_RDONLY | (flags & O_NONBLOCK), flags & O_CLOEXEC, &d);
    if (fd >= 0)
        remember(d);
    return fd;
}

void dh_signalfd_take_over(long fd, uint64_t set, unsigned flags)
{
    uint64_t *state = dh_model_alloc(sizeof *state);
    *state = set;
    remember(dh_description_take_over(fd, &ops, state, flags));
}
