#include "runtime/engine/system/signalfd.h"

#include "runtime/engine/system/description.h"
#include "runtime/engine/system/descriptor.h"
#include "runtime/engine/system/io_step.h"
#include "runtime/engine/system/signal.h"
#include "runtime/platform/bytes.h"
#include "runtime/platform/print.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>

enum { KNOWN = 32, SCANNED = 256 };

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
    while (t->size - done >= sizeof(struct signalfd_siginfo) && dh_signals_dequeue(dh_engine_self(), set_of(d), &info)) {
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
    struct dh_description *d = a[0] >= 0 ? dh_description_of(a[0]) : NULL;
    dh_io_step_numbers(NULL, -1);
    if (a[0] >= 0) {
        if (!d || d->ops != &ops)
            return -EINVAL;
        *(uint64_t *)d->state = set;
        return a[0];
    }
    uint64_t *state = dh_model_alloc(sizeof *state);
    *state = set;
    long fd = dh_description_open(&ops, state, O_RDONLY | (flags & O_NONBLOCK), flags & O_CLOEXEC, &d);
    if (fd >= 0)
        remember(d);
    return fd;
}

/* ---- open ones ---- */

static bool is_signalfd(long fd)
{
    char path[40], text[32];
    dh_print_text(path, sizeof path, "/proc/self/fd/%d", (int)fd);
    long n = dh_kernel_call(SYS_readlink, (long)path, (long)text, sizeof text - 1, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    return dh_text_after(text, "anon_inode:[signalfd]");
}

/* "sigmask:" and a hexadecimal number. */
static uint64_t read_set(long fd)
{
    char path[40], text[512];
    uint64_t set = 0;
    dh_print_text(path, sizeof path, "/proc/self/fdinfo/%d", (int)fd);
    long info = dh_kernel_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long n = info < 0 ? 0 : dh_kernel_call(SYS_read, info, (long)text, sizeof text - 1, 0, 0, 0);
    if (info >= 0)
        dh_kernel_call(SYS_close, info, 0, 0, 0, 0, 0);
    text[n > 0 ? n : 0] = 0;
    const char *value = NULL;
    for (const char *at = text; *at && !value; at++)
        value = dh_text_after(at, "sigmask:\t");
    for (; value && ((*value >= '0' && *value <= '9') || (*value >= 'a' && *value <= 'f')); value++)
        set = set * 16 + (unsigned)(*value <= '9' ? *value - '0' : *value - 'a' + 10);
    return set;
}

void dh_signalfd_take_over_all(void)
{
    for (long fd = 0; fd < SCANNED; fd++) {
        if (!is_signalfd(fd))
            continue;
        uint64_t *state = dh_model_alloc(sizeof *state);
        *state = read_set(fd);
        remember(dh_description_take_over(fd, &ops, state, (unsigned)dh_kernel_call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0)));
    }
}
